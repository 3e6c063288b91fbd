import type { JSX } from 'preact';
import { type ListProps, ListView, type MonthProps, MonthView } from './calendar-views.tsx';
import { Frame, type FrameProps } from './frame.tsx';
import { type EventProps, EventView, type LinkedProps, LinkedView } from './record-views.tsx';

/** What shows each part of a page. */
export interface Views {
  readonly frame: (props: FrameProps) => JSX.Element;
  readonly list: (props: ListProps) => JSX.Element;
  readonly month: (props: MonthProps) => JSX.Element;
  readonly event: (props: EventProps) => JSX.Element;
  readonly linked: (props: LinkedProps) => JSX.Element;
}

/** How the pages of a site look. */
export interface Theme {
  readonly views: Views;
  /** Names of stylesheets that come after Fasti's own. */
  readonly styles: readonly string[];
  /** The names of files for browsers. */
  readonly logo: string | undefined;
  readonly icon: string;
}

/** What Fasti looks like by itself. */
export const OWN_THEME: Theme = {
  views: { frame: Frame, list: ListView, month: MonthView, event: EventView, linked: LinkedView },
  styles: [],
  logo: undefined,
  icon: 'icon.svg',
};
