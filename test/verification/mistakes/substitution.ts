import { mistakes } from './catalogue.ts';
import type { Substitution } from './mistake.ts';

const parameter = 'mistake';
export const projectRoot: URL = new URL('../../../', import.meta.url);

const decides: Substitution = {
  importer: 'src/controller/',
  imported: 'src/core/decide.ts',
  substitute: import.meta.resolve('./modules/decides-wrongly.ts'),
};

/** How a mistake gets into the program; `null` where it can't. */
export function substitutionOf(name: string): Substitution | null {
  const mistake = mistakes[name];
  return mistake?.module ?? (mistake?.decide === undefined ? null : decides);
}

/** The address of the module that takes the place of `url` in a program with that mistake, or `null`. */
export function replacement(name: string, importerUrl: string, url: string): string | null {
  const substitution = substitutionOf(name);
  if (substitution === null || pathOf(url) !== substitution.imported) return null;
  if (!pathOf(importerUrl).startsWith(substitution.importer)) return null;
  return withMistake(substitution.substitute, name);
}

/** A module is loaded anew for each mistake: the name is a part of its address. */
export function withMistake(url: string, name: string): string {
  const address = new URL(url);
  address.searchParams.set(parameter, name);
  return address.href;
}

/** The mistake that a module was loaded for. */
export function mistakeAt(url: string | undefined): string {
  return url === undefined ? '' : (new URL(url).searchParams.get(parameter) ?? '');
}

function pathOf(url: string): string {
  const { pathname } = new URL(url);
  return pathname.startsWith(projectRoot.pathname) ? pathname.slice(projectRoot.pathname.length) : '';
}
