import { runCli } from '../../src/cli/program.ts';

/*
 * Runs commands of `fasti` in a folder as a user who owns nothing, since permissions do not apply to root. The modules
 * are loaded first: that user may not read them. Gets the commands as JSON, and prints their exit codes and output.
 */

const [folder = '', commands = '[]'] = process.argv.slice(2);
const NOBODY = 65_534;

process.chdir(folder);
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
const outcomes: { code: number; out: string; err: string }[] = [];
for (const args of JSON.parse(commands) as string[][]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCli(args, {
    env: { DATABASE_URL: 'sqlite:site.sqlite', UPLOADS_DIR: 'uploads', BACKUPS_DIR: 'backups' },
    isTerminal: false,
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    serve: async () => undefined,
  });
  outcomes.push({ code, out: out.join(''), err: err.join('') });
}
process.stdout.write(JSON.stringify(outcomes));
