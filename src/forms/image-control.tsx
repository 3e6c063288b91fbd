import { Checkbox, Input } from '../html/form-fields.tsx';
import type { Control } from './control.ts';
import { membersIn, textIn } from './form-values.ts';

/*
 * The picture of a record: kept, replaced by a file, removed, described.
 */

export const image: Control = {
  show: (value) => Number(value) || 0,
  read: (sent) => {
    const form = membersIn(sent);
    return textIn(form, 'remove') === '' ? Number(textIn(form, 'id')) || 0 : 0;
  },
  raw: (shown) => (shown === 0 ? '' : shown),
  words: (shown, { say }) => (shown === 0 ? say('desk:form.no-image') : `#${String(shown)}`),
  Show: ({ name, label, hint, error, shown, about }) => (
    <fieldset class={error ? 'field field-wrong' : 'field'} data-drop>
      <legend>{label}</legend>
      <input type="hidden" name={`${name}[id]`} value={String(shown)} />
      {shown !== 0 && about.image && (
        <>
          <img src={about.image.address} alt={about.image.alt} class="form-image" />
          <Checkbox name={`${name}[remove]`} id={`${name}-remove`} label={about.say('desk:form.remove-image')} />
        </>
      )}
      {about.mayUpload && (
        <label>
          <span class="quiet">{about.say(shown === 0 ? 'desk:form.upload' : 'desk:form.replace')}</span>
          <input type="file" name={`${name}_file`} accept="image/*" />
        </label>
      )}
      {(about.mayUpload || about.image?.mayDescribe) && (
        <Input
          name={`${name}[alt]`}
          id={`${name}-alt`}
          label={about.say('desk:form.alt')}
          hint={about.say('desk:form.alt-hint')}
          value={about.image?.alt ?? ''}
        />
      )}
      {hint && <p class="hint">{hint}</p>}
      {error && <p class="error">{error}</p>}
    </fieldset>
  ),
};
