import type { Command } from 'commander';
import { tableOf } from '../wordpress/table.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { withExamples } from './options.ts';
import { print } from './print.ts';
import type { Session } from './session.ts';

/** A possible next word after a command: a subcommand or an option. */
interface Completion {
  readonly text: string;
  readonly meaning: string;
}

/** A command by its path (`['event', 'list']`), with its possible next words. */
interface CommandNode {
  readonly path: readonly string[];
  readonly commands: readonly Completion[];
  readonly options: readonly Completion[];
}

/** Shells -> functions that generate their completion script from all commands. */
const SHELLS: ReadonlyMap<string, (places: readonly CommandNode[]) => string> = tableOf({
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
});

/** Adds `completion bash|zsh|fish`. */
export function addCompletionCommand(program: Command, { io, say }: Session): void {
  const shells = [...SHELLS.keys()].join(', ');
  withExamples(program.command('completion <shell>').description(say('completion.about', { shells })), say, [
    'source <(fasti completion bash)',
    'fasti completion bash > ~/.local/share/bash-completion/completions/fasti',
    'fasti completion zsh > "$' + '{fpath[1]}/_fasti"',
    'fasti completion fish > ~/.config/fish/completions/fasti.fish',
  ]).action((shell: string) => {
    const script = SHELLS.get(shell);
    if (!script) throw new CliError('shell-unknown', { shell, shells }, EXIT_CODE.usage);
    print(io, script(commandNodes(program)));
  });
}

function commandNodes(command: Command, path: readonly string[] = []): CommandNode[] {
  const commands = command.commands.map((one) => ({ text: one.name(), meaning: one.description() }));
  const ownOptions = command.options.flatMap(({ long, description }) => (long ? [{ text: long, meaning: description }] : []));
  const globalOptions = command.parent ? GLOBAL_OPTIONS.map((text) => ({ text, meaning: '' })) : [];
  const options = [...ownOptions, ...globalOptions, { text: '--help', meaning: '' }];
  return [{ path, commands, options }, ...command.commands.flatMap((one) => commandNodes(one, [...path, one.name()]))];
}

/** Options that are allowed anywhere. The word after one is its value, not a command. */
const GLOBAL_OPTIONS = ['--user', '--language'];

/** Returns the paths of all commands, as alternatives of a `case` in bash and zsh. */
const casePattern = (nodes: readonly CommandNode[]): string =>
  nodes.flatMap(({ path }) => (path.length > 0 ? [quotePath(path)] : [])).join('|');

const quotePath = (path: readonly string[]): string => `"${path.map((name) => ` ${name}`).join('')}"`;

/**
 * Returns the script for bash. After a hyphen, it completes options; otherwise commands, or files if there are no
 * commands.
 */
function bashScript(nodes: readonly CommandNode[]): string {
  const textsOf = (completions: readonly Completion[]) => completions.map(({ text }) => text).join(' ');
  const cases = nodes.map(
    ({ path, commands, options }) => `    ${quotePath(path)}) commands="${textsOf(commands)}" options="${textsOf(options)}" ;;`,
  );
  return `# bash completion for fasti
_fasti() {
  local place= commands= options= i word=\${COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${GLOBAL_OPTIONS.join('|')}) ((i++)); [ "\${COMP_WORDS[i]}" != = ] || ((i++)); continue ;;
    esac
    case "$place \${COMP_WORDS[i]}" in
      ${casePattern(nodes)}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$word")) ;;
  esac
}
complete -o default -F _fasti fasti
`;
}

/**
 * Returns the script for zsh, which completes the same words as the one for bash. zsh itself does not offer options
 * unless the word begins with a hyphen.
 */
function zshScript(nodes: readonly CommandNode[]): string {
  const describe = (completions: readonly Completion[]) =>
    completions.map(({ text, meaning }) => singleQuote(`${text}:${firstSentence(meaning).replaceAll(':', '\\:')}`)).join(' ');
  const cases = nodes.map(
    ({ path, commands, options }) => `    ${quotePath(path)}) verbs=(${describe(commands)}) flags=(${describe(options)}) ;;`,
  );
  return `#compdef fasti
_fasti() {
  local place= i
  local -a verbs flags
  for ((i = 2; i < CURRENT; i++)); do
    case "\${words[i]}" in
      ${GLOBAL_OPTIONS.join('|')}) ((i++)); continue ;;
    esac
    case "$place \${words[i]}" in
      ${casePattern(nodes)}) place="$place \${words[i]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" = -* ]]; then _describe -o option flags
  elif ((\${#verbs})); then _describe command verbs
  else _files
  fi
}
if [ "$funcstack[1]" = _fasti ]; then _fasti "$@"; else compdef _fasti fasti; fi
`;
}

function fishScript(nodes: readonly CommandNode[]): string {
  const paths = nodes.flatMap(({ path }) => (path.length > 0 ? [singleQuote(path.join(' '))] : []));
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const condition = `-n ${singleQuote(`__fasti_at ${singleQuote(path.join(' '))}`)}`;
    return [...commands, ...options].map(({ text, meaning }) => {
      const word = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`;
      return `complete -c fasti ${condition} ${word}${meaning === '' ? '' : ` -d ${singleQuote(firstSentence(meaning))}`}`;
    });
  });
  return `# fish completion for fasti
set -g __fasti_places ${paths.join(' ')}
function __fasti_at
  set -l place
  set -l last
  for word in (commandline -opc)[2..-1]
    if not contains -- "$last" ${GLOBAL_OPTIONS.join(' ')}
      contains -- (string join -- ' ' $place $word) $__fasti_places; and set -a place $word
    end
    set last $word
  end
  test "$place" = "$argv"
end
${lines.join('\n')}
`;
}

/** Returns the first sentence, on one line. */
const firstSentence = (text: string): string => (text.replace(/\s+/g, ' ').split('. ')[0] ?? '').replace(/\.$/, '');

/** Puts a text in single quotes, for all three shells. */
const singleQuote = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
