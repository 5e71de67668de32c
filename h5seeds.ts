const root='/work/wt/h5';
const { draw } = await import(`${root}/test/verification/simulation/draw.ts`);
const { run } = await import(`${root}/test/verification/simulation/run.ts`);
const [from,to,...themes]=process.argv.slice(2);
const began=Date.now();
for(let s=Number(from);s<=Number(to);s++){
  const sc=draw(String(s), themes);
  const o=await run(sc);
  for(const v of o.violations) console.log(s, v.law, v.text, (v.atMilliseconds/1000).toFixed(1));
  if(o.stuck) console.log(s,'stuck',o.stuck);
}
console.log('done',(Date.now()-began)/1000);
