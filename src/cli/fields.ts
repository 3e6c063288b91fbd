import type { Command } from 'commander';
import { CUSTOM_FIELD_TYPES } from '../calendar/custom-fields.ts';
import { addCustomField, removeCustomField } from '../records/custom-fields.ts';
import { choiceOf, outputShape, withExamples, withOutputOptions } from './options.ts';
import { formatList, print } from './print.ts';
import { type Session, withSite } from './session.ts';

type Options = Readonly<Record<string, string | undefined>>;

const COLUMNS = ['name', 'type', 'label', 'choices', 'meta'];
/** Kinds that can have custom fields: events only, as in the calendar's paid extension. */
const KINDS = ['event'] as const;

/** Adds `field add|list|remove`. */
export function addFieldCommands(program: Command, session: Session): void {
  const { say, io } = session;
  const group = program.command('field').helpCommand(false).description(say('field.group'));

  withExamples(group.command('add <name>').description(say('field.add')), say, [
    'fasti field add accessibility --type=checkbox',
    "fasti field add stage --type=choice --choices='Main stage,Garden' --label=Stage",
  ])
    .option('--kind <kind>', say('field.kind'), 'event')
    .option('--type <type>', say('field.type', { types: CUSTOM_FIELD_TYPES.join(', ') }), 'text')
    .option('--choices <list>', say('field.choices'))
    .option('--label <text>', say('field.label'))
    .action((name: string, options: Options) =>
      withSite(session, 'write', async (site) => {
        choiceOf('kind', String(options.kind), KINDS);
        const type = choiceOf('type', String(options.type), CUSTOM_FIELD_TYPES);
        const { meta } = await addCustomField(site, { name, type, label: options.label, choices: options.choices?.split(',') });
        print(io, `${say('done.field-added', { name, meta })}\n`);
      }),
    );

  withOutputOptions(
    withExamples(group.command('list').description(say('field.list')), say, ['fasti field list', 'fasti field list --format=json']),
    say,
  ).action((options: Options) =>
    withSite(session, 'read', async (site) => {
      const { calendar } = await site.settings();
      const items = calendar.customFields.map((field) => ({ ...field }));
      print(io, formatList(items, outputShape(options, COLUMNS), io.isTerminal));
    }),
  );

  withExamples(group.command('remove <name>').description(say('field.remove')), say, ['fasti field remove accessibility']).action(
    (name: string) =>
      withSite(session, 'write', async (site) => {
        await removeCustomField(site, name);
        print(io, `${say('done.field-removed', { name })}\n`);
      }),
  );
}
