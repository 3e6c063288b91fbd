import type { JSX } from 'preact';
import { Link } from './links.tsx';

export interface PagingProps {
  /** Label of the navigation for screen readers: "Events". */
  readonly label: string;
  /** URLs and labels of the adjacent pages. */
  readonly previous?: Neighbour | undefined;
  readonly next?: Neighbour | undefined;
  /** Text between them, such as "Page 2 of 5". */
  readonly here?: string | undefined;
}

export interface Neighbour {
  readonly href: string;
  readonly text: string;
}

/** Links to the previous and the next page. */
export function Paging({ label, previous, next, here }: PagingProps): JSX.Element | null {
  if (!previous && !next) return null;
  return (
    <nav class="paging" aria-label={label}>
      {previous && (
        <Link href={previous.href} rel="prev" class="paging-previous">
          {previous.text}
        </Link>
      )}
      {here && <span class="paging-here">{here}</span>}
      {next && (
        <Link href={next.href} rel="next" class="paging-next">
          {next.text}
        </Link>
      )}
    </nav>
  );
}
