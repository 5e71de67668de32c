import * as z from 'zod';
import { listOf, oneOf, rules, struct, text } from './schema.ts';
import { optional } from './settings.ts';

const label = z.string('a text').max(63, 'a text of up to 63 characters');
const needsValues: readonly string[] = ['In', 'NotIn'];

const requirement = struct(
  {
    key: text(317, 'The name of the label.'),
    operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'How the value of the label relates to the values.'),
    values: listOf(
      label.meta({ description: 'A value of the label.' }),
      64,
      'The values: at least one for In and NotIn, none for Exists and DoesNotExist.',
    ).exactOptional(),
  },
  'A condition on a label.',
)
  .refine(({ operator, values = [] }) => needsValues.includes(operator) === values.length > 0, {
    path: ['values'],
    message: 'at least one value for In and NotIn, and none for Exists and DoesNotExist',
  })
  .meta({
    ...rules({
      rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
      message: 'In and NotIn need at least one value, Exists and DoesNotExist take none',
    }),
    description: 'A condition on a label.',
  });

/** A selector by labels, as Kubernetes has it. */
export const labelSelector = (description: string) =>
  struct(
    optional({
      matchLabels: z
        .record(z.string(), label.meta({ description: 'The value of the label.' }), 'an object')
        .meta({ maxProperties: 64, description: 'Labels that must be present with exactly these values.' }),
      matchExpressions: listOf(requirement, 64, 'Conditions on labels, all of which must hold.'),
    }),
    description,
  ).meta({ 'x-kubernetes-map-type': 'atomic', description });
