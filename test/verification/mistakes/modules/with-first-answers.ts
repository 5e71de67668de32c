import { Checks as Right } from '../../../../src/controller/questions/checks.ts';

export * from '../../../../src/controller/questions/checks.ts';

/** Takes the first answers to the checks of a cluster for those of this moment. */
export class Checks extends Right {
  override factsFor(...asked: Parameters<Right['factsFor']>): ReturnType<Right['factsFor']> {
    return super.factsFor(...asked).map((one) => ({ ...one, ageSeconds: 0 }));
  }

  override forget(): void {}
}
