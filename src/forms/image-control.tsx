import { Checkbox, FieldGroup, Input } from '../html/form-fields.tsx';
import { imageMimes } from '../media/image-type.ts';
import { type Control, groupPropsOf } from './control.ts';
import { membersIn, textIn } from './form-values.ts';

/*
 * Control for the image of a record: kept, replaced by a file, removed, described.
 */

/** Accepted types. Phones convert their own formats to one of these if they are listed. */
const ACCEPTED_TYPES = [...new Set(imageMimes.values())].join();

export const image: Control = {
  toFormValue: (value) => Number(value) || 0,
  read: (sent) => {
    const form = membersIn(sent);
    return textIn(form, 'remove') === '' ? Number(textIn(form, 'id')) || 0 : 0;
  },
  toApiValue: (shown) => (shown === 0 ? '' : shown),
  toText: (shown, { say }) => (shown === 0 ? say('desk:form.no-image') : `#${String(shown)}`),
  Component: (props) => {
    const { name, shown, data } = props;
    return (
      <FieldGroup
        {...groupPropsOf(props)}
        data-drop
        data-chosen={data.say('desk:form.chosen-image')}
        data-most={String(data.maxFileSize.bytes)}
        data-too-large={data.say('desk:form.picture-too-large', { most: data.maxFileSize.words })}
      >
        <input type="hidden" name={`${name}[id]`} value={String(shown)} />
        {shown !== 0 && data.image && (
          <>
            <img src={data.image.address} alt={data.image.alt} class="form-image" />
            <Checkbox name={`${name}[remove]`} id={`${name}-remove`} label={data.say('desk:form.remove-image')} />
          </>
        )}
        {data.mayUpload && (
          <label>
            <span class="quiet">{data.say(shown === 0 ? 'desk:form.upload' : 'desk:form.replace')}</span>
            <input type="file" name={`${name}_file`} accept={ACCEPTED_TYPES} />
          </label>
        )}
        {(data.mayUpload || data.image?.mayChangeAlt) && (
          <Input
            name={`${name}[alt]`}
            id={`${name}-alt`}
            label={data.say('desk:form.alt')}
            hint={data.say('desk:form.alt-hint')}
            value={data.alt}
          />
        )}
      </FieldGroup>
    );
  },
};
