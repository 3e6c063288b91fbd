import type { JSX } from 'preact';

/** Shows what a user has entered in a form that was not saved: pairs of a label and a text. */
export const KeptInput = ({ input }: { readonly input: readonly (readonly [label: string, text: string])[] }): JSX.Element => (
  <dl class="kept">
    {input.map(([label, text]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>{text}</dd>
      </div>
    ))}
  </dl>
);
