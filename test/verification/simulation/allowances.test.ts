import { expect } from 'chai';
import { allowances, isAllowed } from './allowances.ts';
import { draw } from './draw.ts';
import { run } from './run.ts';

describe('what the core is known to do against a law', function known() {
  this.timeout(600_000);

  for (const { law, theme, seed } of allowances) {
    it(`shows with theme ${theme} and seed ${seed}: ${law}. An allowance that is not needed any more goes`, async () => {
      const { allowed } = await run(draw(String(seed), [theme]));
      expect(allowed.map((one) => one.law)).to.include(law);
    });
  }

  it('is all that is allowed', () => {
    expect(isAllowed({ law: 'I2', text: 'evict 2: fewer than a majority went on participating' }, [])).to.equal(false);
    expect(isAllowed({ law: 'stuck', text: 'RolesNotSettled: ' }, [])).to.equal(false);
  });
});
