const tries = 5;
const addressFlag = '--metrics-bind-address=';

/** How many milliseconds the program takes to answer Prometheus. In that time it can do nothing else. */
export async function measureScrapes(flags: readonly string[]): Promise<readonly number[]> {
  const address = flags.find((flag) => flag.startsWith(addressFlag))?.slice(addressFlag.length);
  if (address === undefined) throw new Error(`expected ${addressFlag} among the flags, got ${flags.join(' ')}`);
  const milliseconds: number[] = [];
  for (let times = 0; times < tries; times += 1) {
    const start = performance.now();
    const response = await fetch(`http://${address}/metrics`);
    if (!response.ok) throw new Error(`expected the metrics of ${address}, got ${response.status}`);
    await response.text();
    milliseconds.push(performance.now() - start);
  }
  return milliseconds;
}
