import type { Box, ChartLook, Ink, PageLook } from './look.ts';

/** What a chart has to show. Places are shares of the time that is shown. */
export interface ExpectedChart {
  /** From top to bottom; `unavailable` in the order of time. */
  readonly lanes: readonly {
    readonly name: string;
    readonly unavailable: readonly (readonly [from: number, to: number])[];
  }[];
  readonly switchovers: readonly number[];
  readonly holds: readonly number[];
}

/** Half of a dot's or a line's pixels, and rounding. */
const tolerancePixels = 2;
/** WCAG 2.2, 1.4.3 Contrast (Minimum). */
const leastContrast = 4.5;
const legend = ['unavailable', 'switchover', 'wait'];

/** Everything that is wrong with what is shown, in sentences. */
export function defectsOf(look: PageLook, expected: readonly ExpectedChart[]): readonly string[] {
  const { charts, inks, windowWidth, contentWidth } = look;
  return [
    ...(charts.length === expected.length ? [] : [`${charts.length} charts, not ${expected.length}`]),
    ...(contentWidth <= windowWidth ? [] : [`the page is ${contentWidth} wide in a window of ${windowWidth}`]),
    ...charts.flatMap((chart, index) => {
      const one = expected[index];
      return one === undefined ? [] : defectsOfChart(chart, one).map((defect) => `chart ${index}: ${defect}`);
    }),
    ...(inks.length > 0 ? [] : ['there is no text']),
    ...inks.filter((ink) => contrastOf(ink) < leastContrast).map(({ what }) => `${what} can hardly be read`),
  ];
}

function defectsOfChart(chart: ChartLook, expected: ExpectedChart): readonly string[] {
  const names = chart.lanes.map(({ name }) => name).join(' ');
  const expectedNames = expected.lanes.map(({ name }) => name).join(' ');
  const [first] = chart.lanes;
  if (first === undefined || names !== expectedNames) return [`lanes are "${names}", not "${expectedNames}"`];
  return [
    ...chart.lanes.flatMap(({ name, nameOnTop, nameBox, lane, unavailable, words }, index) => {
      const bars = expected.lanes[index]?.unavailable ?? [];
      const above = chart.lanes[index - 1]?.lane;
      return [
        ...(nameOnTop && nameBox.width > 0 ? [] : [`the name ${name} can't be seen`]),
        ...(nameBox.x + nameBox.width <= lane.x ? [] : [`the name ${name} is in its lane`]),
        ...(isBeside(nameBox, lane) ? [] : [`the name ${name} is not beside its lane`]),
        ...(above === undefined || above.y + above.height < lane.y ? [] : [`${name} is not below the one before`]),
        ...placesWrong(
          `starts of ${name}`,
          unavailable.map(left),
          lane,
          bars.map(([from]) => from),
        ),
        ...placesWrong(
          `ends of ${name}`,
          unavailable.map(right),
          lane,
          bars.map(([, to]) => to),
        ),
        ...unavailable.filter((bar) => !isInside(bar, lane)).map(() => `a bar of ${name} is not inside of its lane`),
        ...words
          .filter((word) => !unavailable.some((bar) => isInside(word, bar)))
          .map(() => `words of ${name} are not inside of a bar`),
      ];
    }),
    ...placesWrong('switchovers', chart.switchovers.map(left), first.lane, expected.switchovers),
    ...chart.switchovers
      .filter(({ y, height }) => chart.lanes.some(({ lane }) => y > lane.y || y + height < lane.y + lane.height))
      .map(() => 'a switchover does not cross every lane'),
    ...placesWrong('waits', chart.holds.map(middle), first.lane, expected.holds),
    ...chart.holds
      .filter(({ y }) => chart.lanes.some(({ lane }) => y < lane.y + lane.height))
      .map(() => 'a wait is not below the lanes'),
    ...(chart.legend.join(' ') === legend.join(' ') ? [] : [`the legend says "${chart.legend.join(' ')}"`]),
  ];
}

const left = ({ x }: Box): number => x;
const right = ({ x, width }: Box): number => x + width;
const middle = ({ x, width }: Box): number => x + width / 2;

function isInside(bar: Box, lane: Box): boolean {
  const within = bar.x >= lane.x - 1 && right(bar) <= right(lane) + 1;
  return within && bar.y >= lane.y - 1 && bar.y + bar.height <= lane.y + lane.height + 1 && bar.height > 0;
}

function isBeside(name: Box, lane: Box): boolean {
  const laneMiddle = lane.y + lane.height / 2;
  return name.y < laneMiddle && laneMiddle < name.y + name.height;
}

function placesWrong(
  what: string,
  found: readonly number[],
  { x, width }: Box,
  shares: readonly number[],
): readonly string[] {
  const expected = shares.map((share) => x + share * width);
  const right =
    found.length === expected.length &&
    found.every((place, index) => Math.abs(place - (expected[index] ?? 0)) <= tolerancePixels);
  const told = (places: readonly number[]): string => `[${places.map(Math.round).join(', ')}]`;
  return right ? [] : [`${what} are at ${told(found)}, not ${told(expected)}`];
}

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrastOf({ text, ground }: Ink): number {
  const [light = 0, dark = 0] = [luminanceOf(text), luminanceOf(ground)].toSorted((one, other) => other - one);
  return (light + 0.05) / (dark + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [...colour.matchAll(/[\d.]+/g)].map(([number]) => {
    const share = Number(number) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
