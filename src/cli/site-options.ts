import type { Command } from 'commander';
import type { Site } from '../site.ts';
import { SITE_OPTIONS, type SiteOptionName, setSiteOptions, siteOption } from '../upkeep/site-options.ts';
import { wordpressElsewhere } from '../wordpress/site-address.ts';
import { CliError, EXIT_CODE } from './io.ts';
import { outputShape, withExamples, withOutputOptions } from './options.ts';
import { formatList, oneLine, print } from './print.ts';
import { type Session, withSite } from './session.ts';

/** Adds `option list|get|set`. */
export function addOptionCommands(program: Command, session: Session): void {
  const { io, say } = session;
  const option = program.command('option').helpCommand(false).description(say('option.group'));

  const list = withExamples(option.command('list').description(say('option.list')), say, [
    'fasti option list',
    'fasti option list --format=json',
  ]);
  withOutputOptions(list, say).action((options: Readonly<Record<string, unknown>>) =>
    withSite(session, 'read', async (site) => {
      const settings = await site.settings();
      const rows = SITE_OPTIONS.map((name) => ({ option: name, value: siteOption(settings, name), meaning: say(`option.names.${name}`) }));
      print(io, formatList(rows, outputShape(options, ['option', 'value', 'meaning']), io.isTerminal));
    }),
  );

  withExamples(option.command('get <name>').description(say('option.get')), say, ['fasti option get timezone']).action((name: string) =>
    withSite(session, 'read', async (site) => print(io, `${siteOption(await site.settings(), requireOptionName(name))}\n`)),
  );

  withExamples(option.command('set <name> <value>').description(say('option.set')), say, [
    "fasti option set title 'Town calendar'",
    'fasti option set timezone Europe/Rome',
  ]).action((optionName: string, value: string) =>
    withSite(session, 'write', async (site) => {
      const name = requireOptionName(optionName);
      if ((await setSiteOptions(site, { [name]: value })).length > 0) throw optionInvalid(session, name, value);
      // The address in effect may come from a setting, whatever is stored.
      const { siteUrl } = site.config;
      if (name === 'url' && siteUrl !== undefined && siteUrl !== value.replace(/\/$/, ''))
        io.err(`${oneLine(say('warning', { message: say('option.url-set-elsewhere', { value, url: siteUrl }) }))}\n`);
      else await reportSet(session, site, name);
    }),
  );
}

/** Prints the value of an option that was set; after the address of the site, also that WordPress stays elsewhere. */
async function reportSet({ io, say }: Session, site: Site, name: SiteOptionName): Promise<void> {
  const settings = await site.settings();
  print(io, `${say('done.option-set', { name, value: siteOption(settings, name) })}\n`);
  const url = name === 'url' ? wordpressElsewhere(settings.raw) : undefined;
  if (url !== undefined) io.err(`${oneLine(say('warning', { message: say('option.wordpress-elsewhere', { url }) }))}\n`);
}

/** Returns the error for an invalid value of a site option. */
export const optionInvalid = ({ say }: Session, name: SiteOptionName, value: string): CliError =>
  new CliError('option-invalid', { name, value, allowed: say(`option.allowed.${name}`) }, EXIT_CODE.usage);

/** Returns the name if it is an option. Throws CliError `option-unknown`. */
function requireOptionName(name: string): SiteOptionName {
  const option = SITE_OPTIONS.find((one) => one === name);
  if (option === undefined) throw new CliError('option-unknown', { name, names: SITE_OPTIONS.join(', ') }, EXIT_CODE.usage);
  return option;
}
