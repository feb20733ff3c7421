# Completions of parsimon for fish. The program itself knows what may stand at the cursor.
function __parsimon_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] complete -- $words[2..-1] "$current" 2>/dev/null
end
complete -c parsimon -f -n 'test (count (__parsimon_candidates)) -gt 0' -a '(__parsimon_candidates)'
complete -c parsimon -F -n 'test (count (__parsimon_candidates)) -eq 0'
