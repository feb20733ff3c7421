//! `parsimon serve`

use std::sync::Arc;

use parsimon_serve::{Limits, Model, Server, Service, termination};

use crate::args::{NamedModel, ServeArgs};
use crate::console::note;
use crate::fault::Fault;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    let mut models: Vec<Arc<Model>> = Vec::new();
    for text in &args.models {
        let NamedModel { name, file } =
            NamedModel::new(text).map_err(|e| Fault::Usage(format!("--model: {e}")))?;
        if models.iter().any(|model| model.name() == name) {
            return Err(Fault::Usage(format!("--model: {name:?} is given twice")));
        }
        let Some(file) = file else {
            return Err(Fault::Usage(format!("--model: expected NAME=FILE, got {text:?}")));
        };
        models.push(Arc::new(Model::read_only(&name, &file)?));
    }
    let limits = Limits {
        body: args.max_body,
        rows: args.max_rows,
        features: args.max_features,
        connections: args.max_connections,
        ..Limits::default()
    };
    let service = Arc::new(Service::new(models, limits));
    let cannot = |e: std::io::Error| Fault::Input(format!("{}: {e}", args.listen));
    let server = Server::bind(args.listen, service).map_err(cannot)?;
    if !args.quiet {
        note(&format!("listening at http://{}", server.address().map_err(cannot)?));
    }
    server.run(termination()).map_err(cannot)
}
