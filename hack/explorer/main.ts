import { Exploration } from './explore.ts';
import { type Family, worldOf } from './world.ts';
const [n='3', faults='', fam=''] = process.argv.slice(2);
const world = worldOf(Number(n), { faults: faults === '' ? null : Number(faults), detail: (process.env.DETAIL ?? 'fine') as 'fine', badRevision: process.env.BAD !== '0', families: new Set(fam.split(',').filter(Boolean) as Family[]) });
const start = performance.now();
const e = new Exploration(world);
const f = e.run({ states: Number(process.env.STATES ?? 3e6) });
const s = (performance.now() - start) / 1000;
console.log({ ...f, counterexample: f.counterexample?.invariant, seconds: s, rate: f.states / s, bits: e.layout.bits, words: e.layout.words, mem: process.memoryUsage().rss / 1e6 });
if (f.counterexample) { const { path, window, verdict } = f.counterexample; for (const x of path) console.log(x.slice(0,20).join(''), x.slice(20).join(' ')); console.log('window'); for (const x of window) console.log(x.slice(0,20).join(''), x.slice(20).join(' ')); console.log(verdict); }
