import { Comparison, describe, type MemberState, type Moment, type Picture } from '../demo/side-by-side.ts';
import { circumstances, images } from '../demo/virtual-time.ts';

// Draws the end of `make demo` as an animated SVG: one rollout with a member down, by moco-rollout and by a
// StatefulSet's own rolling update. Each moment in which something changes is a frame.

const frameSeconds = 1;
const lastFrameSeconds = 5;
const [width, height, panelWidth] = [760, 276, 380];
const colors: Readonly<Record<MemberState, string>> = {
  old: '#1f6feb',
  new: '#2da44e',
  away: '#d0d7de',
  broken: '#cf222e',
};
const meanings: Readonly<Record<MemberState, string>> = {
  old: 'works',
  new: 'works, updated',
  away: 'away or starting',
  broken: 'broken',
};

/** The text of the SVG. The same code always gives the same picture, because it runs in virtual time. */
export async function demoPicture(): Promise<string> {
  const comparison = await Comparison.begin(circumstances, images.good);
  const frames: Moment[] = [];
  for await (const moment of comparison.moments()) {
    if (JSON.stringify(frames.at(-1)?.pictures) !== JSON.stringify(moment.pictures)) frames.push(moment);
  }
  const { titles, outcomes } = comparison;
  comparison.end();
  const panels = titles.map((title, side) => panel(title, outcomes[side] ?? '', side, frames));
  const clock = frames.map(({ seconds }, at) => shown(text(20, 48, `after ${seconds} s`, 13, '#57606a'), at, frames));
  const [heading, sentence] = [
    'A new image while one of three members is already down',
    'Left, moco-rollout replaces the broken member first. Right, the StatefulSet replaces a working one, and commits block.',
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${heading}. ${sentence}" font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif">
<title>${heading}</title>
<desc>${sentence}</desc>
<rect width="${width}" height="${height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>
${text(20, 26, heading, 16, '#1f2328', 'bold')}
${clock.join('\n')}
${panels.join('\n')}
${legend()}
</svg>
`;
}

function panel(title: string, outcome: string, side: number, frames: readonly Moment[]): string {
  const left = side * panelWidth + 20;
  const pictures = frames.map(({ pictures: both }) => both[side] as Picture);
  const members = [0, 1, 2].map((ordinal) => {
    const fills = pictures.map(({ members: states }) => colors[states[ordinal] as MemberState]);
    const x = left + 45 + ordinal * 110;
    return `<circle cx="${x}" cy="112" r="20" fill="${fills.at(-1)}">${animate('fill', fills, frames)}</circle>
${text(x - 38, 150, `moco-test-${ordinal}`, 13, '#57606a')}`;
  });
  const states = pictures.map((picture, at) =>
    shown(
      text(left, 178, describe(picture), 14, picture.acceptsCommits ? '#1f2328' : colors.broken, 'bold'),
      at,
      frames,
    ),
  );
  const [verdict = '', figures = ''] = outcome.split(': ');
  return [
    text(left, 78, title, 14, '#1f2328', 'bold'),
    ...members,
    ...states,
    text(left, 204, `${verdict}:`, 12, '#57606a', 'bold'),
    text(left, 222, figures, 12, '#57606a'),
  ].join('\n');
}

function legend(): string {
  const states = Object.keys(colors) as MemberState[];
  return states
    .map((state, at) => {
      const x = 26 + at * 150;
      return `<circle cx="${x}" cy="252" r="6" fill="${colors[state]}"/>\n${text(x + 12, 256, meanings[state], 12, '#57606a')}`;
    })
    .join('\n');
}

const text = (x: number, y: number, words: string, size: number, fill: string, weight = 'normal'): string =>
  `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" font-weight="${weight}">${words}</text>`;

const lengthOf = (frames: readonly Moment[]): number => (frames.length - 1) * frameSeconds + lastFrameSeconds;

/** An attribute that changes at each frame, forever. */
function animate(attribute: string, values: readonly string[], frames: readonly Moment[]): string {
  const total = lengthOf(frames);
  const times = frames.map((_, at) => ((at * frameSeconds) / total).toFixed(4));
  return `<animate attributeName="${attribute}" calcMode="discrete" dur="${total}s" repeatCount="indefinite" keyTimes="${times.join(';')}" values="${values.join(';')}"/>`;
}

/** An element that is visible only in the frame with this index. Without animation the last frame is shown. */
function shown(element: string, at: number, frames: readonly Moment[]): string {
  const visibilities = frames.map((_, frame) => (frame === at ? 'visible' : 'hidden'));
  return `<g visibility="${visibilities.at(-1)}">${element}${animate('visibility', visibilities, frames)}</g>`;
}
