import type { Page } from 'playwright-core';

/** In CSS pixels from the upper left corner of the window. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface LaneLook {
  readonly name: string;
  /** Whether the middle of the name is what one would click at there. */
  readonly nameOnTop: boolean;
  readonly nameBox: Box;
  readonly lane: Box;
  readonly unavailable: readonly Box[];
  /** The words in `unavailable` that are shown. */
  readonly words: readonly Box[];
}

export interface ChartLook {
  readonly lanes: readonly LaneLook[];
  readonly switchovers: readonly Box[];
  readonly holds: readonly Box[];
  readonly legend: readonly string[];
}

/** Text and what it stands on, as `rgb(…)`. */
export interface Ink {
  readonly what: string;
  readonly text: string;
  readonly ground: string;
}

/** What a browser shows of a report. */
export interface PageLook {
  readonly charts: readonly ChartLook[];
  readonly inks: readonly Ink[];
  readonly windowWidth: number;
  readonly contentWidth: number;
}

/** Runs in the page. */
const script = `(() => {
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const seen = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  };
  const onTop = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) === element;
  };
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return backgroundColor !== 'rgba(0, 0, 0, 0)' || !element.parentElement ? backgroundColor : ground(element.parentElement);
  };
  const chartOf = (section) => {
    const names = all(section, '.chart .name:not(.dim)');
    return {
      lanes: all(section, '.lane').map((lane, index) => ({
        name: names[index]?.textContent ?? '',
        nameOnTop: names[index] !== undefined && onTop(names[index]),
        nameBox: names[index] === undefined ? seen(section) : seen(names[index]),
        lane: seen(lane),
        unavailable: all(lane, '.unavailable').map(seen),
        words: all(lane, '.unavailable span').map(seen).filter(({ width }) => width > 0),
      })),
      switchovers: all(section, '.plot .switchover').map(seen),
      holds: all(section, '.waits .hold').map(seen),
      legend: all(section, '.legend li').map((item) => item.innerText.trim()),
    };
  };
  const inks = ['h1', 'p.dim', '.outcome', 'code', '.name', '.tick span', '.unavailable span', '.legend li', 'td', 'summary'];
  return {
    charts: all(document, 'section').map(chartOf),
    inks: inks.flatMap((what) =>
      all(document, what).map((element) => ({ what, text: getComputedStyle(element).color, ground: ground(element) }))),
    windowWidth: document.documentElement.clientWidth,
    contentWidth: document.documentElement.scrollWidth,
  };
})()`;

export async function lookAt(page: Page): Promise<PageLook> {
  return page.evaluate<PageLook>(script);
}
