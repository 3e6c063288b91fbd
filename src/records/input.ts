import { type Fault, fail } from '../errors.ts';
import { kindOnSite } from '../kinds/custom-fields.ts';
import { lengthFault, MAX_BYTES, type Reference } from '../kinds/grammars/grammar.ts';
import { anyText } from '../kinds/grammars/grammars.ts';
import type { Field, Param, Params, ValuesOf } from '../kinds/param.ts';
import type { Site } from '../site.ts';
import type { Caller } from './caller.ts';
import { sentValues } from './explanation.ts';
import { resolveReferences, type UnresolvedReference } from './references.ts';
import { discardImages } from './writes/prepared-images.ts';

/** `upsert`: creates a record, or changes the one that it finds. */
export type Mode = 'read' | 'create' | 'change' | 'upsert';

/**
 * Returns the values in a request, checked in WordPress's order: first missing parameters, then invalid values (length
 * before content, then references to other records), then wrong types. Absent parameters stay absent; `null` clears
 * (decisions D1, D7).
 *
 * @throws rest_missing_callback_param, rest_invalid_param
 */
export async function acceptParams<Declared extends Params>(
  site: Site,
  caller: Caller,
  params: Declared,
  raw: Readonly<Record<string, unknown>>,
  requestedMode: Mode,
): Promise<ValuesOf<Declared>> {
  const mode = requestedMode === 'create' && isSent(params, 'upsert', raw) ? 'upsert' : requestedMode;
  const { missingNames, valueFaults, schemaFaults, references, values } = readParams(caller, params, raw, mode);
  if (missingNames.length > 0) fail('rest_missing_callback_param', { data: { params: missingNames } });

  const password = typeof raw.password === 'string' && !lengthFault(PASSWORD, raw.password) ? raw.password : undefined;
  const {
    values: resolvedValues,
    unknownNames,
    detail,
  } = await resolveReferences(site, caller, references, {
    password,
    isLastStep: valueFaults.size + schemaFaults.size === 0,
    accept: (kind, nestedValues) => {
      const { fields } = kindOnSite(kind, caller.settings);
      return acceptParams(site, caller, fields, nestedValues, isSent(fields, 'external_id', nestedValues) ? 'upsert' : 'create');
    },
  });
  for (const { name, grammar } of references) {
    if (unknownNames.includes(name))
      valueFaults.set(name, { stage: 'value', reason: grammar.hint.unknownReason ?? UNKNOWN_REASONS[grammar.refersTo!] });
  }
  // The type holds: each value was read by the grammar of its parameter or looked up as that grammar says, and nothing
  // else was added.
  const acceptedValues = { ...values, ...resolvedValues } as ValuesOf<Declared>;
  const faults = valueFaults.size > 0 ? valueFaults : schemaFaults;
  if (faults.size === 0) return acceptedValues;
  await discardImages(acceptedValues);
  const faultNames = Object.keys(params).filter((name) => faults.has(name));
  return fail('rest_invalid_param', {
    faults: new Map(faultNames.map((name) => [name, faults.get(name)!])),
    // References to hidden records get the same answer as references to missing ones.
    sentValues: sentValues(
      params,
      raw,
      faultNames.filter((name) => !unknownNames.includes(name)),
    ),
    ...(detail ? { detail } : {}),
  });
}

/** Results of reading the values of a request with their grammars. */
interface Readings {
  readonly missingNames: string[];
  readonly valueFaults: Map<string, Fault>;
  readonly schemaFaults: Map<string, Fault>;
  /** Values that refer to other records. */
  readonly references: UnresolvedReference[];
  readonly values: Record<string, unknown>;
}

function readParams({ viewer }: Caller, params: Params, raw: Readonly<Record<string, unknown>>, mode: Mode): Readings {
  const readings: Readings = { missingNames: [], valueFaults: new Map(), schemaFaults: new Map(), references: [], values: {} };
  const { missingNames, valueFaults, schemaFaults, references, values } = readings;
  const creates = mode === 'create' || mode === 'upsert';
  const copiesSource = creates && isSent(params, 'translation_of', raw);
  for (const [name, param] of Object.entries<Param | Field>(params)) {
    const rawValue = Object.hasOwn(raw, name) ? raw[name] : undefined;
    const isRequired = param.required && creates && !isExcused(params, param, raw);
    if (isRequired && (rawValue === undefined || rawValue === null)) {
      missingNames.push(name);
      continue;
    }
    if (rawValue === undefined) continue;
    const tooLongFault = lengthFault(param.grammar, rawValue);
    if (tooLongFault) {
      if (!param.grammar.dropsTooLong) valueFaults.set(name, tooLongFault);
      continue;
    }
    if (
      isBlank(param, rawValue) &&
      !isRequired &&
      !recordBlank(readings, name, param, blankMeaning(param, rawValue, { mode, copiesSource }))
    )
      continue;
    const { value, fault, schemaFault } = param.grammar.read(rawValue, viewer.can, raw);
    if (fault) valueFaults.set(name, fault);
    if (schemaFault) schemaFaults.set(name, schemaFault);
    if (fault) continue;
    values[name] = value;
    if (param.grammar.refersTo && value !== undefined) references.push({ name, value, grammar: param.grammar });
  }
  return readings;
}

/** Records the meaning of an empty value. Returns whether it must be read like any other. */
function recordBlank(
  { valueFaults, schemaFaults, values }: Readings,
  name: string,
  param: Param,
  meaning: ReturnType<typeof blankMeaning>,
): boolean {
  if (meaning === 'false' || meaning === 'null') values[name] = meaning === 'false' ? false : null;
  else if (meaning === 'empty') values[name] = '';
  else if (meaning === 'mistyped') schemaFaults.set(name, { stage: 'type', type: typeOf(param) });
  else if (meaning === 'refused') valueFaults.set(name, { stage: 'value', reason: 'empty-value' });
  return meaning === 'read';
}

/** Whether a required parameter may be missing because another one supplies its value. */
const isExcused = (params: Params, { unless }: Param, raw: Readonly<Record<string, unknown>>): boolean =>
  unless !== undefined && isSent(params, unless, raw);

const isSent = (params: Params, name: string, raw: Readonly<Record<string, unknown>>): boolean =>
  Object.hasOwn(params, name) && Object.hasOwn(raw, name) && !isBlank(params[name]!, raw[name]);

/**
 * Reasons for a reference to nothing that the caller can see. They do not reveal whether there is a hidden record
 * (decision D35).
 */
const UNKNOWN_REASONS: Readonly<Record<Reference, string>> = {
  user: 'user-unknown',
  image: 'image-unknown',
  event: 'event-unknown',
  venue: 'venue-unknown',
  organizer: 'organizer-unknown',
  category: 'category-unknown',
  tag: 'tag-unknown',
};

/** The password of protected records, which every request may have. */
const PASSWORD = anyText(MAX_BYTES.password);

const isBlank = ({ grammar }: Param, rawValue: unknown) => rawValue === null || rawValue === '' || (grammar.isBlank?.(rawValue) ?? false);

/**
 * Returns the meaning of an empty value. On create it is ignored. On change it clears the field, is refused, means
 * false, or is passed on as an empty text. An upsert keeps what clears, for the record that it may find. In queries, on
 * WordPress's own routes, and for untyped parameters that are not fields, it is read like any other value, except that
 * null is ignored there, and in queries any empty value of a parameter with `ignoresEmpty`. `copiesSource`: a new
 * record that copies unnamed fields from its source gets nothing for fields with an empty value.
 */
function blankMeaning(
  param: Param | Field,
  rawValue: unknown,
  { mode, copiesSource }: { readonly mode: Mode; readonly copiesSource: boolean },
): 'absent' | 'null' | 'false' | 'empty' | 'refused' | 'mistyped' | 'read' {
  if (mode === 'read' && param.ignoresEmpty) return 'absent';
  const isUntyped = param.grammar.json.type === undefined;
  if (mode === 'read' || (isUntyped && !('empty' in param))) return rawValue !== null || acceptsNull(param) ? 'read' : 'absent';
  const emptyMeaning = 'empty' in param ? param.empty : 'refused';
  if (emptyMeaning === 'false') return 'false';
  if (emptyMeaning === 'clears' && (mode !== 'create' || copiesSource)) return 'null';
  if (mode !== 'change') return 'absent';
  if (emptyMeaning === 'stays' && (rawValue === '' || acceptsNull(param))) return 'empty';
  return rawValue === null ? 'mistyped' : 'refused';
}

const acceptsNull = ({ grammar }: Param) => Array.isArray(grammar.json.type) && grammar.json.type.includes('null');

const typeOf = ({ grammar }: Param) => (typeof grammar.json.type === 'string' ? grammar.json.type : 'string');
