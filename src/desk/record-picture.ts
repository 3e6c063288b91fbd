import { ApiError, fail } from '../errors.ts';
import { errorSentence } from '../forms/error-sentences.ts';
import { membersIn, textIn } from '../forms/form-values.ts';
import { isImage } from '../kinds/fields.ts';
import type { Values } from '../kinds/param.ts';
import { mayUpload } from '../media/images.ts';
import { LibraryUnavailable } from '../media/library.ts';
import { changeMedia, mayChangeMedia, prepareMedia, removeMedia, shownMedia, uploadMedia } from '../records/core/media.ts';
import type { Editable } from '../records/editing.ts';
import { withFileCleanup } from '../records/writes/prepared-images.ts';
import { lookUpOnce } from '../storage/engine/look-up-once.ts';
import type { FormPlan } from './form-plan.ts';
import type { Submission } from './visit.ts';

const imageFieldName = ({ kind, names }: FormPlan): string | undefined => names.find((name) => isImage(kind.fields[name]!));

/** Returns the alternative text of the picture in the form; undefined if the form does not have that field. */
export function altTextIn({ fields }: Submission, plan: FormPlan): string | undefined {
  const imageInput = membersIn(fields[imageFieldName(plan) ?? '']);
  return 'alt' in imageInput ? textIn(imageInput, 'alt').trim() : undefined;
}

/** The picture uploaded with a form. */
interface UploadedPicture {
  /** The value of the image field, if the picture was added to the library. */
  readonly input: Values;
  /** Removes the picture from the library, for when the form was not saved and is not shown again. */
  readonly removeFromLibrary: () => Promise<void>;
}

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
    const mediaValues = { alt_text: altTextIn(visit, submittedPlan) ?? '', ...(record ? { post: record.id } : {}) };
    const preparedFile = await prepareMedia(site, caller, file, mediaValues);
    const id = await withFileCleanup(site, (trackedSite) => uploadMedia(trackedSite, caller, preparedFile, mediaValues), preparedFile.undo);
    return { input: { [name]: id }, removeFromLibrary: async () => (await removeMedia(site, caller, { id, force: true })).afterCommit() };
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
 * Changes the alternative text of the record's image, for all records with this image, if it differs and the caller
 * may.
 */
export async function changeAltText(visit: Submission, plan: FormPlan, input: Values): Promise<void> {
  const { site, caller } = visit;
  const [id, alt] = [Number(input[imageFieldName(plan) ?? ''] ?? 0), altTextIn(visit, plan)];
  if (id === 0 || alt === undefined) return;
  const storedAlt = (await shownMedia(site, caller, [id], 'view')).get(id)?.record.alt_text;
  if (storedAlt === undefined || storedAlt === alt) return;
  const values = { id, alt_text: alt };
  if ((await mayChangeMedia(lookUpOnce(site.db), caller, values)) === true) await changeMedia(site, caller, id, { alt_text: alt });
}
