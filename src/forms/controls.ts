import { isYesOrNo } from '../kinds/editable.ts';
import { isImage, isLinks, isTerms } from '../kinds/fields.ts';
import { MAX_BYTES } from '../kinds/grammars/grammar.ts';
import { decimal, url } from '../kinds/grammars/grammars.ts';
import { timeText, timezone } from '../kinds/grammars/times.ts';
import type { Field } from '../kinds/param.ts';
import { author, categories, oneOf, status, tags } from './choice-controls.tsx';
import type { Control } from './control.ts';
import { customFields } from './custom-control.tsx';
import { dateAndTime, timeZone } from './date-controls.tsx';
import { image } from './image-control.tsx';
import { links } from './link-controls.tsx';
import { multiLine, number, singleLine, webAddress, yesOrNo } from './text-controls.tsx';

/*
 * Selection of the control for a field.
 */

/** Returns the control of a field, determined by its grammar and its place. */
export function controlOf(name: string, field: Field): Control {
  const { grammar } = field;
  if (name === 'status') return status;
  if (name === 'author') return author;
  if (name === 'custom_fields') return customFields;
  if (isYesOrNo(grammar)) return yesOrNo;
  if (isTerms(field)) return field.place.kind === 'category' ? categories : tags;
  if (isLinks(field)) return links;
  if (isImage(field)) return image;
  if (grammar === timeText) return dateAndTime;
  if (grammar === timezone) return timeZone;
  if (grammar === decimal) return number;
  if (grammar === url) return webAddress;
  if (grammar.maxBytes === MAX_BYTES.content) return multiLine(12);
  if (field.place.in === 'column' && field.place.column === 'post_excerpt') return multiLine(3);
  const { enum: choices } = grammar.json;
  if (Array.isArray(choices)) return oneOf(choices.map(String));
  return singleLine;
}
