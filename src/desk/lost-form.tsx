import { ApiError } from '../errors.ts';
import { errorSentence } from '../forms/error-sentences.ts';
import { KeptInput } from './kept-input.tsx';
import { labelledInput } from './labelled-input.ts';
import { deskPage } from './layout.tsx';
import type { Outcome, Submission } from './visit.ts';

/**
 * Saves a form. If its user may no longer edit the record, because an editor has published it, or if it was deleted for
 * good, the page about that shows what was entered, to be copied.
 *
 * @throws all other errors of `save`
 */
export async function withInputToCopy(visit: Submission, save: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await save();
  } catch (error) {
    const input = labelledInput(visit, visit.request.path, visit.fields);
    if (!(error instanceof ApiError) || input.length === 0) throw error;
    const isGone = error.details.faults?.has('id') === true;
    if (!isGone && error.status !== 403) throw error;
    const { say } = visit.i18n;
    const html = deskPage(visit, {
      title: say(isGone ? 'desk:problem.absent' : 'desk:problem.forbidden'),
      notice: { tone: 'wrong', text: isGone ? say('desk:problem.absent-about') : errorSentence(visit, error) },
      children: (
        <>
          <p>{say('desk:problem.input')}</p>
          <KeptInput input={input} />
        </>
      ),
    });
    return { html, status: isGone ? 404 : 403, refusal: error };
  }
}
