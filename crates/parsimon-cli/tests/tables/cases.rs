//! Small tables with a trap each, and what is to be found in them.

/// A table: its name, its text, and its columns with their kinds. The label has a star.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) schema: &'static str,
}

/// `count` rows below a header; a row is made from its number.
fn table(header: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    let rows = (0..count).map(|i| row(i) + "\n");
    format!("{header}\n{}", rows.collect::<String>())
}

/// The tables.
pub(crate) fn cases() -> Vec<Case> {
    let case = |name, text: String, schema| Case { name, text, schema };
    let y = |i: usize| i % 2;
    let word = |i: usize| ["red", "blue", "green"][i % 3];
    vec![
        case(
            "missing.csv",
            table("a,b,label", 12, |i| {
                let cell = ["1.5", "NA", "null", "?", "", "N/A", "None", "nan", "NULL"][i % 9];
                format!("{cell},{},{}", word(i), y(i))
            }),
            "a:number b:category label*:number",
        ),
        case(
            "one_text.csv",
            table("a,label", 30, |i| match i {
                20 => "unknown,1".into(),
                _ => format!("{}.5,{}", i % 7, y(i)),
            }),
            "a:category label*:number",
        ),
        case(
            "leading_zeros.csv",
            table("zip,label", 30, |i| format!("{:05},{}", i * 37 % 11, y(i))),
            "zip:category label*:number",
        ),
        case(
            "hexadecimal.csv",
            table("code,label", 30, |i| {
                format!("{},{}", ["623049e6", "85f751fd", "12345678"][i % 3], y(i))
            }),
            "code:category label*:number",
        ),
        case(
            "bare_exponents.csv",
            table("code,x,label", 30, |i| {
                format!(
                    "{},{},{}",
                    ["12e34", "56789", "1e5"][i % 3],
                    ["2e+05", "1e-05"][i % 2],
                    y(i)
                )
            }),
            "code:category x:number label*:number",
        ),
        case(
            "long_integers.csv",
            table("code,label", 30, |i| format!("10000094181510942{},{}", i % 5 + 10, y(i))),
            "code:category label*:number",
        ),
        case(
            "zeros_before_a_point.csv",
            table("x,label", 30, |i| format!("00{}.5,{}", i % 4, y(i))),
            "x:number label*:number",
        ),
        case(
            "identifiers.csv",
            table("id,key,amount,label", 200, |i| {
                format!("{},k{},{}.25,{}", 1000 + i, i * 7919, i, y(i))
            }),
            "id:identifier key:identifier amount:number label*:number",
        ),
        case(
            "pandas_index.csv",
            table(",x,label", 200, |i| format!("{i},{},{}", i % 9, y(i))),
            "c1:identifier x:number label*:number",
        ),
        case(
            "constant_and_empty.csv",
            table("k,e,x,label", 30, |i| format!("7,,{},{}", i % 5, y(i))),
            "k:constant e:empty x:number label*:number",
        ),
        case(
            "booleans.csv",
            table("p,q,r,label", 30, |i| {
                format!(
                    "{},{},{},{}",
                    ["yes", "no"][i % 2],
                    ["True", "False"][i % 2],
                    i % 2,
                    i / 2 % 2
                )
            }),
            "p:boolean q:boolean r:number label*:number",
        ),
        case(
            "texts.csv",
            table("review,label", 30, |i| format!("\"It's word{i}, and \"\"so\"\" on\",{}", y(i))),
            "review:text label*:number",
        ),
        case(
            "few_phrases.csv",
            table("plan,label", 60, |i| {
                format!("{},{}", ["bank transfer by hand", "credit card by mail"][i % 2], i / 2 % 2)
            }),
            "plan:category label*:number",
        ),
        case(
            "times.csv",
            table("at,day,clock,label", 30, |i| {
                format!(
                    "2020-01-{:02}T0{}:30:00Z,{}/12/2019,{}:05,{}",
                    i % 28 + 1,
                    i % 9,
                    i % 28 + 1,
                    i % 24,
                    y(i)
                )
            }),
            "at:time day:time clock:time label*:number",
        ),
        case(
            "thousands.csv",
            table("pay,rate,price,label", 30, |i| {
                format!("\"{},250\",{}.5%,${}.00,{}", i + 1, i % 9, i % 13, y(i))
            }),
            "pay:number rate:number price:number label*:number",
        ),
        case(
            "semicolons.csv",
            table("x;city;label", 30, |i| format!("{},5;{};{}", i % 7, word(i), y(i))),
            "x:number city:category label*:number",
        ),
        case(
            "tabs.csv",
            table("x\tcity\tlabel", 30, |i| format!("{}\t{}, x\t{}", i % 7, word(i), y(i))),
            "x:number city:category label*:number",
        ),
        case(
            "bars.csv",
            table("x|city|label", 30, |i| format!("{}|{}|{}", i % 7, word(i), y(i))),
            "x:number city:category label*:number",
        ),
        case(
            "byte_order_mark.csv",
            table("\u{feff}label,x", 30, |i| format!("{},{}", y(i), i % 7)),
            "label*:number x:number",
        ),
        case(
            "windows.csv",
            table("x,label\r", 30, |i| format!("{},{}\r", i % 7, y(i))),
            "x:number label*:number",
        ),
        case(
            "ragged.csv",
            table("x,city,label", 30, |i| {
                format!("{},{},{}{}", i % 7, word(i), y(i), ["", ",,", ","][i % 3])
            }),
            "x:number city:category label*:number",
        ),
        case(
            "no_header.csv",
            table("red,square,1", 30, |i| {
                format!("{},{},{}", word(i), ["square", "round", "flat"][i / 2 % 3], y(i))
            }),
            "c1:category c2:category c3*:number",
        ),
        case(
            "no_header_of_words.csv",
            table("red,square,no", 30, |i| {
                format!(
                    "{},{},{}",
                    word(i),
                    ["square", "round", "flat"][i / 2 % 3],
                    ["yes", "no"][y(i)]
                )
            }),
            "c1:category c2:category c3*:boolean",
        ),
        case(
            "header_over_words.csv",
            table("color,shape,sold", 30, |i| {
                format!(
                    "{},{},{}",
                    word(i),
                    ["square", "round", "flat"][i / 2 % 3],
                    ["yes", "no"][y(i)]
                )
            }),
            "color:category shape:category sold*:boolean",
        ),
        case(
            "label_in_front.tsv",
            table("1\t4.5\ta", 30, |i| {
                format!("{}\t{}.5\t{}", y(i), i % 7, ["a", "b", "c"][i % 3])
            }),
            "c1*:number c2:number c3:category",
        ),
        case(
            "label_by_name.csv",
            table("Outcome,x,flag", 30, |i| {
                format!("{},{},{}", y(i), i % 7, ["yes", "no"][i / 2 % 2])
            }),
            "Outcome*:number x:number flag:boolean",
        ),
        case(
            "periods.csv",
            table("x,label", 30, |i| {
                format!("{}, {}{}", i % 7, ["low", "high"][y(i)], ["", "."][i / 2 % 2])
            }),
            "x:number label*:category",
        ),
        case(
            "careless_quotes.csv",
            table("text,size,label", 60, |i| match i {
                7 => "\"an open quote\\\"\",3,0".into(),
                9 => "\"a \"quote\" within\",4,1".into(),
                _ => format!("\"words, {i} of them\",{},{}", i % 5, y(i)),
            }),
            "text:text size:number label*:number",
        ),
    ]
}
