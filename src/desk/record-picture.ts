import { ApiError, fail } from '../errors.ts';
import { altOnOneLine, type ControlData } from '../forms/control.ts';
import { errorSentence } from '../forms/error-sentences.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { INITIAL_ALT } from '../forms/image-control.tsx';
import { isImage } from '../kinds/fields.ts';
import type { Values } from '../kinds/param.ts';
import { mayUpload } from '../media/images.ts';
import { LibraryUnavailable } from '../media/library.ts';
import { attachOwnMedia, changeMedia, mayChangeMedia, prepareMedia, removeMedia, shownMedia, uploadMedia } from '../records/core/media.ts';
import type { Editable } from '../records/editing.ts';
import { withFileCleanup } from '../records/writes/prepared-images.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import { lockPost } from '../storage/rows/posts.ts';
import type { FormPlan } from './form-plan.ts';
import type { Submission, Visit } from './visit.ts';

const imageFieldName = ({ kind, names }: FormPlan): string | undefined => names.find((name) => isImage(kind.fields[name]!));

/** The alternative text in a submitted form; undefined: not in the form. */
interface SubmittedAlt {
  readonly alt: string | undefined;
  /** The one that the form began with. */
  readonly initialAlt: string | undefined;
}

function altTextIn({ fields }: Submission, plan: FormPlan): SubmittedAlt {
  const imageInput = membersIn(fields[imageFieldName(plan) ?? '']);
  const text = (name: string) => (name in imageInput ? altOnOneLine(textIn(imageInput, name)) : undefined);
  return { alt: text('alt'), initialAlt: text(INITIAL_ALT) };
}

/**
 * Returns the data of a form that is shown again, with the alternative text that the user entered. `picture`: the one
 * uploaded with the form, which has been stored with that text. `isConflict`: whether the user sees what others have
 * saved, so that saving again replaces it.
 */
export function withSubmittedAlt(
  visit: Submission,
  plan: FormPlan,
  data: ControlData,
  { picture, isConflict = false }: { readonly picture: UploadedPicture; readonly isConflict?: boolean },
): ControlData {
  const { alt, initialAlt } = altTextIn(visit, plan);
  if (alt === undefined || isStored(picture)) return data;
  if (isConflict) return alt === initialAlt ? data : { ...data, alt };
  return { ...data, alt, initialAlt: initialAlt ?? data.initialAlt };
}

/** Returns the stored alternative text, by field, if both the user and somebody else have changed it. */
export function savedAltText(visit: Submission, plan: FormPlan, { image }: ControlData): readonly (readonly [string, string])[] {
  const { alt, initialAlt } = altTextIn(visit, plan);
  const isChanged = image?.mayChangeAlt && alt !== undefined && alt !== initialAlt && image.alt !== initialAlt && image.alt !== alt;
  return isChanged ? [[imageFieldName(plan) ?? '', image.alt]] : [];
}

/** The picture uploaded with a form. */
export interface UploadedPicture {
  /** The value of the image field, if the picture was added to the library. */
  readonly input: Values;
  /** Removes the picture from the library, for when the form was not saved and is not shown again. */
  readonly removeFromLibrary: () => Promise<void>;
}

const isStored = ({ input }: UploadedPicture): boolean => Object.keys(input).length > 0;

const NO_PICTURE: UploadedPicture = { input: {}, removeFromLibrary: async () => undefined };

/**
 * Adds the picture uploaded with a form to the library. The image field then has its id, so that the file need not be
 * chosen again if the form is shown again. `isSaving`: whether the form is being saved at all; if not, a message says
 * that the file has to be chosen again.
 */
export async function storePicture(
  visit: Submission,
  { submittedPlan, record }: { readonly submittedPlan: FormPlan; readonly record: Editable | undefined },
  { isSaving, errors }: { readonly isSaving: boolean; readonly errors: Map<string, string> },
): Promise<UploadedPicture> {
  const { site, caller, files } = visit;
  const name = imageFieldName(submittedPlan);
  const file = files.get(`${name}_file`);
  if (name === undefined || !file) return NO_PICTURE;
  if (!isSaving) {
    errors.set(name, visit.i18n.say('desk:form.choose-again'));
    return NO_PICTURE;
  }
  try {
    if (!mayUpload(caller.viewer)) fail('rest_cannot_create');
    const { alt = '', initialAlt } = altTextIn(visit, submittedPlan);
    // The description of the former picture does not fit the new one.
    const mediaValues = { alt_text: alt === initialAlt ? '' : alt, ...(record ? { post: record.id } : {}) };
    const preparedFile = await prepareMedia(site, caller, file, mediaValues);
    const id = await withFileCleanup(site, (trackedSite) => uploadMedia(trackedSite, caller, preparedFile, mediaValues), preparedFile.undo);
    return {
      input: { [name]: id },
      removeFromLibrary: async () => (await removeMedia(site, caller, { id, force: true })).afterCommit(),
    };
  } catch (error) {
    if (error instanceof LibraryUnavailable) {
      // The user's other input is not lost: the record can be saved without a picture.
      site.log.error({ err: error }, 'a picture could not be stored');
      errors.set(name, visit.i18n.say(`problems:${error.reason === 'full' ? 'disk-full' : 'uploads-unavailable'}`));
      return NO_PICTURE;
    }
    if (!(error instanceof ApiError) || (error.status >= 500 && error.problem !== 'upload-refused')) throw error;
    errors.set(name, error.problem === 'upload-refused' ? visit.i18n.say('desk:form.picture-refused') : errorSentence(visit, error));
    return NO_PICTURE;
  }
}

/**
 * Attaches the picture of a new record to it, in the transaction that creates the record: that of a draft is not
 * public. It may have been uploaded with an earlier submission of the form. The picture of the record that the new one
 * copies or translates stays where it is.
 */
export async function attachPicture(
  { site, caller }: Visit,
  plan: FormPlan,
  { input, model }: { readonly input: Values; readonly model: Editable | undefined },
  recordId: number,
): Promise<void> {
  const name = imageFieldName(plan) ?? '';
  const id = Number(input[name] ?? 0);
  if (id > 0 && id !== Number(model?.values[name] ?? 0)) await attachOwnMedia(site, caller, id, recordId);
}

/** A change of an alternative text. */
interface AltChange {
  readonly id: number;
  readonly alt: string;
  readonly initialAlt: string | undefined;
}

/** Returns the change of the alternative text of the image in the form; undefined if there is none. */
function altChangeIn(visit: Submission, plan: FormPlan, input: Values): AltChange | undefined {
  const [id, { alt, initialAlt }] = [Number(input[imageFieldName(plan) ?? ''] ?? 0), altTextIn(visit, plan)];
  return id === 0 || alt === undefined || alt === initialAlt ? undefined : { id, alt, initialAlt };
}

/**
 * Returns the stored alternative text; undefined if the caller may not change it.
 */
async function changeableAlt({ site, caller }: Visit, { id, alt }: AltChange): Promise<string | undefined> {
  if ((await mayChangeMedia(lookUpOnce(site.db), caller, { id, alt_text: alt })) !== true) return undefined;
  const media = (await shownMedia(site, caller, [id], 'view')).get(id);
  return media && altOnOneLine(media.record.alt_text);
}

/** Returns the error about an alternative text that the user may not change, by field. */
export async function altTextErrors(
  visit: Submission,
  plan: FormPlan,
  { input, picture }: { readonly input: Values; readonly picture: UploadedPicture },
): Promise<readonly (readonly [string, string])[]> {
  const change = isStored(picture) ? undefined : altChangeIn(visit, plan, input);
  if (!change || (await changeableAlt(visit, change)) !== undefined) return [];
  return [[imageFieldName(plan) ?? '', visit.i18n.say('desk:form.alt-fixed')]];
}

/**
 * Changes the alternative text of the record's image, for all records with this image, if the user has changed it. Must
 * be called in a transaction. A picture uploaded with the form has its text already.
 *
 * @throws edit-conflict if another user has changed it since the form was opened; rest_cannot_edit
 */
export async function changeAltText(
  visit: Submission,
  plan: FormPlan,
  { input, picture }: { readonly input: Values; readonly picture: UploadedPicture },
): Promise<void> {
  const { site, caller } = visit;
  const change = isStored(picture) ? undefined : altChangeIn(visit, plan, input);
  if (!change) return;
  await lockPost(site.db, change.id);
  const storedAlt = (await changeableAlt(visit, change)) ?? fail('rest_cannot_edit');
  if (storedAlt === change.alt) return;
  if (change.initialAlt !== undefined && storedAlt !== change.initialAlt) fail('edit-conflict');
  await changeMedia(site, caller, change.id, { alt_text: change.alt });
}
