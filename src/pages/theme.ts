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

/** The views of the parts of a page. */
export interface Views {
  readonly frame: (props: FrameProps) => VNode;
  readonly list: (props: ListProps) => VNode;
  readonly month: (props: MonthProps) => VNode;
  readonly event: (props: EventProps) => VNode;
  readonly linked: (props: LinkedProps) => VNode;
}

/** The look of a site's pages. */
export interface Theme {
  readonly views: Views;
  /** Names of stylesheets that are loaded after Fasti's own. */
  readonly styles: readonly string[];
  /** File names of the logo and the icon. */
  readonly logo: string | undefined;
  readonly icon: string;
}

/** A theme, and the files that its pages need. */
export interface LoadedTheme {
  readonly theme: Theme;
  readonly assets: Assets;
}

const DEFAULT_VIEWS: Views = { frame: Frame, list: ListView, month: MonthView, event: EventView, linked: LinkedView };

/** Returns Fasti's default theme. */
export const defaultTheme = (): LoadedTheme => ({
  theme: { views: DEFAULT_VIEWS, styles: [], logo: undefined, icon: 'icon.svg' },
  assets: loadAssets(),
});

/** Functions with which views of a site build elements, so that they need no package. */
const VIEW_HELPERS = { h, Fragment, Link, Rendered };

/**
 * Loads the theme of a site from the folder in `THEME_DIR`, if that is set.
 *
 * @throws Error with a one-line message if the folder or a view in it cannot be used
 */
export async function loadTheme(folder: string | undefined): Promise<LoadedTheme> {
  if (folder === undefined) return defaultTheme();
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  const firstExisting = (...candidates: readonly string[]) => candidates.find((name) => names.includes(name));
  const views = await loadSiteViews(folder, names);
  const files = names.filter((name) => !isViewFile(name)).map((name) => [name, readFileSync(join(folder, name))] as const);
  return {
    theme: {
      views: { ...DEFAULT_VIEWS, ...views },
      styles: names.includes('theme.css') ? ['theme.css'] : [],
      logo: firstExisting('logo.svg', 'logo.webp', 'logo.png'),
      icon: firstExisting('icon.svg', 'icon.png', 'icon.ico') ?? 'icon.svg',
    },
    assets: loadAssets(new Map(files)),
  };
}

const isViewFile = (file: string): boolean => file.endsWith('.js') && Object.hasOwn(DEFAULT_VIEWS, file.slice(0, -3));

/** Loads the views in modules of the folder, each by the name of its file. */
async function loadSiteViews(folder: string, names: readonly string[]): Promise<Partial<Views>> {
  const views = names.filter(isViewFile).map(async (name) => {
    const { default: view }: { readonly default?: unknown } = await import(pathToFileURL(resolve(folder, name)).href);
    if (typeof view !== 'function') throw new Error(`${name} has no default export that is a function.`);
    return [name.slice(0, -3), (props: object) => view(props, VIEW_HELPERS) as VNode] as const;
  });
  return Object.fromEntries(await Promise.all(views));
}
