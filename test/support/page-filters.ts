import { elements, textOf } from './desk-visitor.ts';

/** The filters of a page in use, in words, and the selected options and ticked boxes of its inputs. */
export function filtersOn(html: string): { readonly chips: string[]; readonly chosen: string[]; readonly ticked: number } {
  const isChip = ({ name, parent }: { name: string; parent: unknown }) =>
    name === 'li' && (parent as { attribs?: { class?: string } } | null)?.attribs?.class === 'chips';
  return {
    chips: elements(html, isChip).map(textOf),
    chosen: elements(html, ({ name, attribs }) => name === 'option' && 'selected' in attribs && attribs.value !== '').map(textOf),
    ticked: elements(html, ({ attribs }) => attribs.type === 'checkbox' && 'checked' in attribs).length,
  };
}
