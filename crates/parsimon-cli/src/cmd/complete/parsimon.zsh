#compdef parsimon
# Completions of parsimon for zsh. The program itself knows what may stand at the cursor.
_parsimon() {
    local -a candidates
    local name about
    while IFS=$'\t' read -r name about; do
        candidates+=("${name//:/\\:}:$about")
    done < <("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#candidates )); then
        _describe -V parsimon candidates
    else
        _files
    fi
}
if [[ "$funcstack[1]" == _parsimon ]]; then
    _parsimon "$@"
else
    compdef _parsimon parsimon
fi
