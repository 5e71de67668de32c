import { style } from './style.ts';
import { escaped, instant } from './text.ts';

/** A self-contained page: no script, no font, no link. `body` is HTML. */
export function document(title: string, body: string, nowMilliseconds: number, width: 'narrow' | 'wide'): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body${width === 'wide' ? ' class="wide"' : ''}>
<h1>${escaped(title)}</h1>
<p class="dim">As of ${instant(nowMilliseconds)}, all times in UTC.</p>
${body}
</body>
</html>
`;
}
