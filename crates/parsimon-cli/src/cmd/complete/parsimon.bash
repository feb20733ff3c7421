# Completions of parsimon for bash. The program itself knows what may stand at the cursor.
_parsimon() {
    local line="${COMP_LINE:0:COMP_POINT}" words=() candidate
    read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    local current="${words[${#words[@]}-1]}"
    # bash replaces only what follows the last : or =
    local kept="${current%"${current##*[:=]}"}"
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        COMPREPLY+=("${candidate#"$kept"}")
    done < <("${COMP_WORDS[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
# Without a candidate, files.
complete -o default -F _parsimon parsimon
