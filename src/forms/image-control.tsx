import type { JSX } from 'preact';
import { Checkbox, FieldGroup, Input } from '../html/form-fields.tsx';
import { imageMimes } from '../media/image-type.ts';
import { type Control, type ControlProps, groupPropsOf } from './control.ts';
import { idIn, membersIn, textIn } from './form-values.ts';

/*
 * Control for the image of a record: kept, replaced by a file, removed, described.
 */

/** Member of the field with the alternative text that the form began with. */
export const INITIAL_ALT = 'alt_shown';

/** Accepted types. Phones convert their own formats to one of these if they are listed. */
const ACCEPTED_TYPES = [...new Set(imageMimes.values())].join();

export const image: Control = {
  toFormValue: (value) => Number(value) || 0,
  read: (input) => {
    const form = membersIn(input);
    return textIn(form, 'remove') === '' ? idIn(textIn(form, 'id')) : 0;
  },
  toApiValue: (formValue) => (formValue === 0 ? '' : formValue),
  toText: (formValue, { say, image }) => (formValue === 0 ? say('desk:form.no-image') : image?.title || `#${String(formValue)}`),
  Component: (props) => {
    const { name, formValue, data } = props;
    return (
      <FieldGroup
        {...groupPropsOf(props)}
        data-drop
        data-chosen={data.say('desk:form.chosen-image')}
        data-most={String(data.maxFileSize.bytes)}
        data-too-large={data.say('desk:form.picture-too-large', { most: data.maxFileSize.text })}
      >
        <input type="hidden" name={`${name}[id]`} value={String(formValue)} />
        {formValue !== 0 && (
          <>
            {data.image ? (
              <img src={data.image.address} alt={data.image.alt} class="form-image" />
            ) : (
              <p class="quiet">{data.say('desk:form.image-absent')}</p>
            )}
            <Checkbox name={`${name}[remove]`} id={`${name}-remove`} label={data.say('desk:form.remove-image')} />
          </>
        )}
        {data.mayUpload && (
          <label>
            <span class="quiet">{data.say(formValue === 0 ? 'desk:form.upload' : 'desk:form.replace')}</span>
            <input type="file" name={`${name}_file`} accept={ACCEPTED_TYPES} />
          </label>
        )}
        <AltText {...props} />
      </FieldGroup>
    );
  },
};

/** The alternative text of the image, or of a new one if the caller may not change it. */
function AltText({ name, formValue, data }: ControlProps): JSX.Element {
  const isFixed = formValue !== 0 && !data.image?.mayChangeAlt;
  return (
    <>
      {isFixed && data.image && data.image.alt !== '' && (
        <p class="quiet">
          {data.say('desk:form.alt')}: <bdi>{data.image.alt}</bdi>
        </p>
      )}
      {(data.mayUpload || data.image?.mayChangeAlt) && (
        <>
          <input type="hidden" name={`${name}[${INITIAL_ALT}]`} value={data.initialAlt} />
          <Input
            name={`${name}[alt]`}
            id={`${name}-alt`}
            label={data.say(isFixed ? 'desk:form.new-alt' : 'desk:form.alt')}
            hint={data.say('desk:form.alt-hint')}
            value={data.alt}
          />
        </>
      )}
    </>
  );
}
