import type { ComponentChildren, JSX } from 'preact';
import { addToGroup } from '../grouped-by.ts';
import { Checkbox, Input, Select, TextArea } from '../html/form-fields.tsx';
import type { I18n } from '../html/i18n.ts';
import { Link } from '../html/links.tsx';

/*
 * The API reference as a page, generated from the OpenAPI document, so that the two cannot differ.
 */

/** The members of a schema that are shown. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content & { readonly $ref?: string; readonly description?: string }>>;
}

/** The members of an OpenAPI document that are shown. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, { readonly description?: string }>>;
  };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { readonly servers?: readonly { readonly url: string }[] }>
  >;
}

/** One operation of a path, with all methods that perform it. */
interface PathOperation extends Operation {
  readonly path: string;
  readonly methods: readonly string[];
  /** The path of the server URL that `path` is relative to. */
  readonly base: string;
}

export interface ReferenceProps {
  readonly i18n: I18n;
  readonly document: ApiDocument;
  /** The URL of the document itself. */
  readonly json: string;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The reference of the API, made from its OpenAPI document. */
export function ApiReference({ i18n, document, json }: ReferenceProps): JSX.Element {
  const { say } = i18n;
  const groups = groupsOf(document);
  return (
    <>
      <h1>{say('pages:reference.title')}</h1>
      <p class="about">{say('pages:reference.about')}</p>
      <p>
        <Link href={json}>{say('pages:reference.json')}</Link>
      </p>
      <form class="login" id="login" hidden>
        <h2>{say('pages:reference.login')}</h2>
        <p class="quiet">{say('pages:reference.login-about')}</p>
        <Input name="user" label={say('pages:reference.user')} autocomplete="off" />
        <Input name="secret" type="password" label={say('pages:reference.secret')} autocomplete="off" />
      </form>
      {[...groups].map(([name, operations]) => (
        <section key={name} aria-labelledby={`group-${name}`}>
          <h2 id={`group-${name}`}>{name === '' ? say('pages:reference.other') : name}</h2>
          {operations.map((operation) => (
            <OperationView key={idOf(operation)} i18n={i18n} document={document} operation={operation} />
          ))}
        </section>
      ))}
      <section aria-labelledby="records">
        <h2 id="records">{say('pages:reference.schemas')}</h2>
        {Object.entries(document.components.schemas).map(([name, schema]) => (
          <details key={name} id={`schema-${name}`} class="deed">
            <summary>
              <code>{name}</code>
            </summary>
            <SchemaFields i18n={i18n} schema={schema} />
          </details>
        ))}
      </section>
    </>
  );
}

function groupsOf({ paths }: ApiDocument): Map<string, PathOperation[]> {
  const groups = new Map<string, PathOperation[]>();
  for (const [path, item] of Object.entries(paths)) {
    const base = new URL(item.servers?.[0]?.url ?? '/', 'http://site.invalid').pathname;
    const bySummary = new Map<string, PathOperation>();
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const previousOperation = bySummary.get(operation.summary ?? method);
      bySummary.set(operation.summary ?? method, {
        ...operation,
        ...previousOperation,
        path,
        base,
        methods: [...(previousOperation?.methods ?? []), method],
      });
    }
    for (const operation of bySummary.values()) addToGroup(groups, operation.tags?.[0] ?? '', operation);
  }
  return groups;
}

const idOf = ({ methods, path }: PathOperation): string => `${methods[0]}${path.replace(/[^\w]+/g, '-')}`;

interface OperationProps {
  readonly i18n: I18n;
  readonly document: ApiDocument;
  readonly operation: PathOperation;
}

function OperationView({ i18n, document, operation }: OperationProps): JSX.Element {
  const { say } = i18n;
  const parameters = (operation.parameters ?? []).map((parameter) => resolveParameter(document, parameter));
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const isOpen = operation.security?.some((way) => Object.keys(way).length === 0) ?? true;
  return (
    <details class="deed" id={idOf(operation)}>
      <summary>
        <span class="methods">{operation.methods.map((method) => method.toUpperCase()).join(' ')}</span> <code>{operation.path}</code>{' '}
        <span class="deed-summary">{operation.summary}</span>
      </summary>
      {!isOpen && <p class="quiet">{say('pages:reference.needs-login')}</p>}
      {parameters.length > 0 && (
        <Table heading={say('pages:reference.parameters')}>
          {parameters.map(({ name = '', in: place, description, required, schema }) => (
            <FieldRow
              key={`${place}${name}`}
              i18n={i18n}
              name={name}
              type={describeType(i18n, schema)}
              isRequired={required}
              about={description}
            />
          ))}
        </Table>
      )}
      {body && (
        <>
          <h3>{say('pages:reference.fields')}</h3>
          <SchemaFields i18n={i18n} schema={body} />
        </>
      )}
      <h3>{say('pages:reference.answers')}</h3>
      <ul class="answers">
        {Object.entries(operation.responses ?? {}).map(([status, answer]) => {
          const problem = document.components.responses[answer.$ref?.split('/').at(-1) ?? ''];
          return (
            <li key={status}>
              <code>{status}</code> {answer.description ?? problem?.description}{' '}
              <TypeView schema={answer.content?.['application/json']?.schema} i18n={i18n} />
            </li>
          );
        })}
      </ul>
      <TryForm i18n={i18n} operation={operation} parameters={parameters} hasBody={body !== undefined} isOpen={isOpen} />
    </details>
  );
}

const resolveParameter = ({ components }: ApiDocument, parameter: Parameter): Parameter => ({
  ...components.parameters[parameter.$ref?.split('/').at(-1) ?? ''],
  ...parameter,
  ...(parameter.$ref === undefined ? {} : { in: components.parameters[parameter.$ref.split('/').at(-1) ?? '']?.in ?? 'query' }),
});

/** A form that the page's script sends. Without the script it is hidden. */
function TryForm({ i18n, operation, parameters, hasBody, isOpen }: Omit<OperationProps, 'document'> & TryProps): JSX.Element {
  const { say } = i18n;
  const id = idOf(operation);
  const fieldProps = (name: string) => ({ name, id: `${id}-${name}`, label: name });
  return (
    <form
      class="try"
      hidden
      data-method={operation.methods[0]?.toUpperCase()}
      data-path={`${operation.base.replace(/\/$/, '')}${operation.path}`}
    >
      <h3>{say('pages:reference.try')}</h3>
      {parameters.map(({ name = '', in: place, required, schema }) =>
        schema?.enum ? (
          <div key={name} data-in={place}>
            <Select
              {...fieldProps(name)}
              required={required}
              options={[{ value: '', text: '' }, ...schema.enum.map((value) => ({ value: String(value), text: String(value) }))]}
            />
          </div>
        ) : (
          <div key={name} data-in={place}>
            <Input {...fieldProps(name)} required={required} autocomplete="off" />
          </div>
        ),
      )}
      {hasBody && <TextArea name="body" id={`${id}-body`} label={say('pages:reference.body')} rows={6} value="{}" />}
      <Checkbox name="login" id={`${id}-login`} label={say('pages:reference.with-login')} checked={!isOpen} />
      <button type="submit">{say('pages:reference.send')}</button>
      <output class="answer" data-failed={say('pages:reference.failed')} />
    </form>
  );
}

interface TryProps {
  readonly parameters: readonly Parameter[];
  readonly hasBody: boolean;
  readonly isOpen: boolean;
}

const Table = ({ heading, children }: { readonly heading: string; readonly children: ComponentChildren }): JSX.Element => (
  <>
    <h3>{heading}</h3>
    <dl class="params">{children}</dl>
  </>
);

interface RowProps {
  readonly i18n: I18n;
  readonly name: string;
  readonly type: ComponentChildren;
  readonly isRequired: boolean | undefined;
  readonly about: string | undefined;
}

const FieldRow = ({ i18n, name, type, isRequired, about }: RowProps): JSX.Element => (
  <div>
    <dt>
      <code>{name}</code> <span class="quiet">{type}</span> {isRequired && <strong>{i18n.say('pages:reference.required')}</strong>}
    </dt>
    {about !== undefined && about !== '' && <dd>{about}</dd>}
  </div>
);

/** The members of a schema. */
function SchemaFields({ i18n, schema }: { readonly i18n: I18n; readonly schema: Schema }): JSX.Element {
  const members = [schema, ...(schema.allOf ?? [])].flatMap(({ properties = {} }) => Object.entries(properties));
  if (members.length === 0) return <p>{describeType(i18n, schema)}</p>;
  return (
    <dl class="params">
      {members.map(([name, member]) => (
        <FieldRow
          key={name}
          i18n={i18n}
          name={name}
          type={describeType(i18n, member)}
          isRequired={schema.required?.includes(name)}
          about={member.description}
        />
      ))}
    </dl>
  );
}

const TypeView = ({ schema, i18n }: { readonly schema: Schema | undefined; readonly i18n: I18n }) =>
  schema === undefined ? null : <span class="quiet">{describeType(i18n, schema)}</span>;

/** Returns a short description of a type; a record is a link to its description. */
function describeType(i18n: I18n, schema: Schema = {}): ComponentChildren {
  const { say } = i18n;
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return <Link href={`#schema-${name}`}>{name}</Link>;
  }
  if (schema.enum) return say('pages:reference.one-of', { values: schema.enum.map(String).join(', ') });
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.map((one, index) => [index > 0 ? ' | ' : '', describeType(i18n, one)]);
  if (schema.type === 'array' && schema.items) return [say('pages:reference.list-of', { type: '' }), describeType(i18n, schema.items)];
  return schema.format ?? schema.type ?? say('pages:reference.any');
}
