import { randomUUID } from 'node:crypto';
import { Fragment, type JSX } from 'preact';
import { hourCycleOf } from '../calendar/hour-cycle.ts';
import { ErrorSummary, FieldOf, type FormState } from '../forms/fields.tsx';
import { encodeInitialValues, INITIAL_FIELD } from '../forms/initial-values.ts';
import { statusText } from '../forms/labels.ts';
import { Link } from '../html/links.tsx';
import { type MapLocation, mapUrl } from '../html/map-url.ts';
import { postKind } from '../kinds/index.ts';
import type { PostKind } from '../kinds/kind.ts';
import { type Editable, mayListEditable } from '../records/editing.ts';
import { mayCreate } from '../records/posts.ts';
import type { FormPlan } from './form-plan.ts';
import { ButtonForm, deskPage, draftAttributes, Nonce, type Notice } from './layout.tsx';
import { addressLine, geocoderFor, LocateButton } from './locate.tsx';
import { SERIES_FIELDS, SHARES_PASSWORD_FIELD } from './origin-change.ts';
import { MAP_AFTER_FIELD, MAP_ASSETS, type MapView, PlaceMap } from './place-map.tsx';
import { PreviewLink } from './preview-link.tsx';
import { removalAction, STATUS_FIELD } from './record-actions.ts';
import { FORM_KEY_FIELD } from './record-write.ts';
import { SuggestionDetails } from './suggested.tsx';
import { draftPath, TARGET_LANGUAGE_FIELD, TranslationLinks } from './translations.tsx';
import { deskUrl, displayTitle, type Outcome, type Visit } from './visit.ts';

/*
 * The page with the form of a record: its fields in order, links, buttons.
 */

/** Data of the form of a record. */
export interface RecordForm extends Omit<FormState, 'kind'> {
  readonly plan: FormPlan;
  readonly record: Editable | undefined;
  /** The version that the user changed, if not the stored one. */
  readonly version?: string;
  /** The key of the form of a new record that is shown again; by default a new one. */
  readonly formKey?: string;
  /** Initial values of its fields (`encodeInitialValues`), if not the values shown. */
  readonly initialDigests?: string;
  readonly notice?: Notice | undefined;
  /** Whether the event recurs, so that it has a page with its dates. */
  readonly recurs?: boolean;
  /** The id of the record that a new one translates. */
  readonly translates?: number;
  /** The language that the link to the form of a translation named. */
  readonly targetLanguage?: string;
  /** The id of the record that a new one is a copy of. */
  readonly copies?: number;
  /** Whether the record that a new one translates or copies is a recurring event. */
  readonly sharesDates?: boolean;
  /** Whether the record that a new one translates or copies is protected by a password. */
  readonly sharesPassword?: boolean;
  readonly map: MapView | undefined;
}

/** Returns the page with the form of a record, or of a new one. */
export function recordFormPage(visit: Visit, form: RecordForm): Outcome & { readonly html: string } {
  const { say } = visit.i18n;
  const { plan, record, notice, map } = form;
  const { kind } = plan;
  const formState: FormState = { ...form, kind };
  const title = record ? displayTitle(visit, record) : say(`desk:kinds.${kind.name}.new`);
  const path = `/${kind.path}/${record?.id ?? 'new'}`;
  const html = deskPage(visit, {
    title,
    section: kind.path,
    notice,
    ...(map ? MAP_ASSETS : {}),
    children: (
      <>
        {record && <RecordHeader visit={visit} kind={kind} record={record} recurs={form.recurs === true} />}
        {form.sharesDates && <p class="quiet">{say('desk:dates.shared')}</p>}
        {form.sharesPassword && <p class="quiet">{say('desk:protected.shared')}</p>}
        <ErrorSummary form={formState} i18n={visit.i18n} />
        <form
          method="post"
          action={deskUrl(visit, path)}
          encType="multipart/form-data"
          class="record-form"
          data-locale={visit.i18n.locale}
          data-clock={hourCycleOf(visit.settings.calendar.formats.time)}
          {...draftAttributes(visit, { path: draftPathOf(path, form), isShownAgain: notice !== undefined })}
        >
          {/* The Enter key presses the first button in the form. */}
          <button type="submit" class="hidden" tabIndex={-1} aria-hidden="true" />
          <HiddenFields visit={visit} form={form} />
          <div class="form-main">
            {plan.main.map((name) => (
              <Fragment key={name}>
                <FieldOf form={formState} i18n={visit.i18n} name={name} />
                {name === MAP_AFTER_FIELD && geocoderFor(visit, kind) !== undefined && <LocateButton visit={visit} />}
                {map && name === MAP_AFTER_FIELD && <PlaceMap visit={visit} map={map} />}
              </Fragment>
            ))}
          </div>
          <div class="form-aside">
            {plan.sidebar.map(({ group, names }) => (
              <section key={group} aria-label={say(`desk:groups.${group}`)}>
                {names.map((name) => (
                  <FieldOf key={name} form={formState} i18n={visit.i18n} name={name} />
                ))}
              </section>
            ))}
          </div>
          <FormButtons visit={visit} kind={kind} record={record} />
        </form>
        {record?.mayDelete && record.row.post_status !== 'trash' && <TrashButton visit={visit} kind={kind} record={record} />}
      </>
    ),
  });
  return { html, images: imagesOf(form) };
}

/** The fields of the form that its user does not see. */
function HiddenFields({ visit, form }: { readonly visit: Visit; readonly form: RecordForm }): JSX.Element {
  const { plan, record } = form;
  return (
    <>
      <Nonce nonce={visit.nonce} />
      {form.translates !== undefined && <input type="hidden" name="translation_of" value={String(form.translates)} />}
      {form.targetLanguage !== undefined && <input type="hidden" name={TARGET_LANGUAGE_FIELD} value={form.targetLanguage} />}
      {!record && <input type="hidden" name={FORM_KEY_FIELD} value={form.formKey || randomUUID()} />}
      {form.copies !== undefined && <input type="hidden" name="copy_of" value={String(form.copies)} />}
      <input type="hidden" name="version" value={form.version ?? record?.version ?? ''} />
      <input type="hidden" name="fields" value={plan.names.join(',')} />
      {(record || form.sharesDates) && (
        <input type="hidden" name={INITIAL_FIELD} value={form.initialDigests ?? encodeInitialValues(initialValuesOf(form))} />
      )}
      {form.sharesPassword && <input type="hidden" name={SHARES_PASSWORD_FIELD} value="1" />}
    </>
  );
}

/** Returns the initial values that the form sends back: of a new event, its dates, with which it shares a series. */
const initialValuesOf = ({ record, formValues }: RecordForm): RecordForm['formValues'] =>
  record ? formValues : Object.fromEntries(Object.entries(formValues).filter(([name]) => SERIES_FIELDS.includes(name)));

/** Returns the URLs of the images of a form, and of its map. */
const imagesOf = ({ data, savedImage, map }: RecordForm): string[] => [
  ...[data.image, savedImage].flatMap((image) => (image ? [image.address] : [])),
  ...(map ? [map.tiles] : []),
];

/** Returns the path under which the browser keeps the input. Input for one new record is not offered for another. */
const draftPathOf = (path: string, { translates, targetLanguage, copies }: RecordForm): string =>
  draftPath(path, translates ? { translation_of: translates, language: targetLanguage } : { copy_of: copies });

interface RecordViewProps {
  readonly visit: Visit;
  readonly kind: PostKind;
  readonly record: Editable;
}

function FormButtons({ visit, kind, record }: Omit<RecordViewProps, 'record'> & { readonly record: Editable | undefined }): JSX.Element {
  const { say } = visit.i18n;
  const mayPublish = record?.row.post_status === 'pending' && visit.caller.viewer.can(`publish_${kind.capabilities}`);
  return (
    <div class="form-buttons">
      <button type="submit" class="button-main">
        {say('desk:form.save')}
      </button>
      {mayPublish && (
        <button type="submit" name="publish" value="1">
          {say('desk:suggestion.publish')}
        </button>
      )}
      <Link href={deskUrl(visit, `/${kind.path}`)}>{say('desk:form.cancel')}</Link>
    </div>
  );
}

/**
 * The button that moves the record to the trash, if there is one. For a suggestion its label says that it is rejected.
 */
function TrashButton({ visit, kind, record }: RecordViewProps): JSX.Element {
  const isRejection = record.suggestion !== undefined && record.row.post_status === 'pending';
  const removal = removalAction(visit);
  const key = isRejection ? 'desk:suggestion.reject' : `desk:actions.${removal}`;
  const confirmation = isRejection && removal === 'delete' ? 'desk:suggestion.reject-final' : `${key}-sure`;
  const { say } = visit.i18n;
  return (
    <ButtonForm
      visit={visit}
      path={`/${kind.path}/${record.id}/${removal}`}
      text={say(key)}
      // An event that was published in the meantime is neither rejected nor deleted for good.
      fields={isRejection || removal === 'delete' ? { [STATUS_FIELD]: record.row.post_status } : {}}
      danger={say(confirmation)}
    />
  );
}

/** Content above the form of a record. */
function RecordHeader({ visit, kind, record, recurs }: RecordViewProps & { readonly recurs: boolean }): JSX.Element {
  return (
    <>
      <RecordLinks visit={visit} kind={kind} record={record} recurs={recurs} />
      <TranslationLinks visit={visit} kind={kind} id={record.id} record={record.record} editable={record.editableTranslations} showsTexts />
      {record.suggestion && <SuggestionDetails visit={visit} record={record} suggestion={record.suggestion} />}
    </>
  );
}

function RecordLinks({ visit, kind, record, recurs }: RecordViewProps & { readonly recurs: boolean }): JSX.Element {
  const { say } = visit.i18n;
  const { row, record: apiRecord } = record;
  const map = 'geo_lat' in kind.fields ? mapUrl(mapLocationOf(record)) : undefined;
  return (
    <p class="record-links">
      <span class="status">{statusText(visit.i18n, row.post_status)}</span>
      {row.post_password !== '' && <span class="status">{say('desk:protected.label')}</span>}
      {row.post_status === 'publish' && typeof apiRecord.url === 'string' && <Link href={apiRecord.url}>{say('desk:actions.view')}</Link>}
      <PreviewLink visit={visit} record={record} />
      {map !== undefined && <Link href={map}>{say('pages:map')}</Link>}
      {!kind.hasDates && mayListEditable(visit.caller, postKind('event')) && (
        <Link href={deskUrl(visit, '/events', { [kind.name]: record.id })}>{say('desk:actions.events')}</Link>
      )}
      {recurs && <Link href={deskUrl(visit, `/${kind.path}/${record.id}/dates`)}>{say('desk:dates.link')}</Link>}
      {mayCreate(visit.caller, kind) && (
        <Link href={deskUrl(visit, `/${kind.path}/${record.id}/duplicate`)}>{say('desk:actions.duplicate')}</Link>
      )}
    </p>
  );
}

function mapLocationOf({ record, values }: Editable): MapLocation {
  const coordinate = (name: string) => (typeof record[name] === 'number' ? record[name] : undefined);
  return { lat: coordinate('geo_lat'), lng: coordinate('geo_lng'), address: addressLine(values) };
}
