import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fragment, h, type VNode } from 'preact';
import { type Assets, loadAssets } from '../html/assets.ts';
import { Link } from '../html/links.tsx';
import { Rendered } from '../html/rendered.tsx';
import { type ListProps, ListView, type MonthProps, MonthView } from './calendar-views.tsx';
import { Frame, type FrameProps } from './frame.tsx';
import { type EventProps, EventView, type LinkedProps, LinkedView } from './record-views.tsx';

/** What shows each part of a page. */
export interface Views {
  readonly frame: (props: FrameProps) => VNode;
  readonly list: (props: ListProps) => VNode;
  readonly month: (props: MonthProps) => VNode;
  readonly event: (props: EventProps) => VNode;
  readonly linked: (props: LinkedProps) => VNode;
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

/** A theme, and the files that its pages need. */
export interface LoadedTheme {
  readonly theme: Theme;
  readonly assets: Assets;
}

const DEFAULT_VIEWS: Views = { frame: Frame, list: ListView, month: MonthView, event: EventView, linked: LinkedView };

/** What Fasti looks like by itself. */
export const defaultTheme = (): LoadedTheme => ({
  theme: { views: DEFAULT_VIEWS, styles: [], logo: undefined, icon: 'icon.svg' },
  assets: loadAssets(),
});

/** What views of a site's own build elements with; they need no package for it. */
const TOOLS = { h, Fragment, Link, Rendered };

/**
 * The look of a site whose folder of its own is named (`THEME_DIR`).
 *
 * @throws Error in one line where the folder or a view in it cannot be used
 */
export async function loadTheme(folder: string | undefined): Promise<LoadedTheme> {
  if (folder === undefined) return defaultTheme();
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  const first = (...wanted: readonly string[]) => wanted.find((name) => names.includes(name));
  const views = await ownViews(folder, names);
  const files = names.filter((name) => !isView(name)).map((name) => [name, readFileSync(join(folder, name))] as const);
  return {
    theme: {
      views: { ...DEFAULT_VIEWS, ...views },
      styles: names.includes('theme.css') ? ['theme.css'] : [],
      logo: first('logo.svg', 'logo.webp', 'logo.png'),
      icon: first('icon.svg', 'icon.png', 'icon.ico') ?? 'icon.svg',
    },
    assets: loadAssets(new Map(files)),
  };
}

const isView = (file: string): boolean => file.endsWith('.js') && Object.hasOwn(DEFAULT_VIEWS, file.slice(0, -3));

/** The views that modules of the folder hold, each by the name of its file. */
async function ownViews(folder: string, names: readonly string[]): Promise<Partial<Views>> {
  const views = names.filter(isView).map(async (name) => {
    const { default: view }: { readonly default?: unknown } = await import(pathToFileURL(resolve(folder, name)).href);
    if (typeof view !== 'function') throw new Error(`${name} has no default export that is a function.`);
    return [name.slice(0, -3), (props: object) => view(props, TOOLS) as VNode] as const;
  });
  return Object.fromEntries(await Promise.all(views));
}
