import type { JSX } from 'preact';
import { Link } from './links.tsx';

export interface PagingProps {
  /** What is paged, for those who do not see it: "Events". */
  readonly label: string;
  /** Addresses of the neighbours, and what they are called. */
  readonly previous?: Neighbour | undefined;
  readonly next?: Neighbour | undefined;
  /** What stands between them, such as "Page 2 of 5". */
  readonly here?: string | undefined;
}

export interface Neighbour {
  readonly href: string;
  readonly text: string;
}

/** The way to the page before and the one after. */
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
