import * as z from 'zod';
import { overridableRules } from '../core/rules/catalogue.ts';
import { type Infer, listBy, oneOf, optional, struct, text, time } from './schema.ts';
import { commonFields, type SettingFields } from './settings.ts';
import { ordinals, revision } from './status-fields.ts';

// The settings in force, as the status of a MySQLRollout shows them.

const settingInForce = <Value extends z.ZodType>(value: Value) =>
  struct(
    {
      value: value.meta({ description: 'The value in force.' }),
      source: text(320, 'Where the value comes from: MySQLRollout, MySQLRolloutPolicy/NAME, flag --NAME, or default.'),
      enforced: z.literal(true).meta({ type: 'boolean', description: 'A policy enforces the value.' }).exactOptional(),
    },
    'A setting in force.',
  );

type InForce<Value extends z.ZodType> = ReturnType<typeof settingInForce<Value>>;

const commonInForce = Object.fromEntries(
  Object.entries(commonFields).map(([field, schema]) => [field, settingInForce(schema.unwrap())]),
) as { [Field in keyof SettingFields]: InForce<SettingFields[Field]> };

export const settings = struct(
  optional({
    ...commonInForce,
    checks: settingInForce(listBy('name', struct({ name: text(63, 'The name of the check.') }, 'A check.'), 16, '')),
    approvedRevision: settingInForce(revision('')),
    pinnedMembers: settingInForce(ordinals('')),
    restore: settingInForce(
      struct(
        {
          revision: revision('The update revision that the members leave.'),
          members: ordinals('The ordinals of the members.'),
        },
        '',
      ),
    ),
    overrides: settingInForce(
      listBy(
        'rule',
        struct(
          {
            rule: oneOf(overridableRules, 'The name of the rule.'),
            until: time('When the rule is in force again.'),
            ...optional({ by: text(256, 'Who overrides it, as the spec says.') }),
          },
          'A rule that is overridden.',
        ),
        16,
        '',
      ),
    ),
  }),
  'The settings in force, by the names of the fields of spec: the value of each, its source (MySQLRollout, ' +
    'MySQLRolloutPolicy/NAME, flag --NAME, or default), and enforced if a policy enforces it. Reasons and queries are ' +
    'left out.',
);

export interface SettingInForce {
  readonly value: unknown;
  readonly source: string;
  /** Whether a policy enforces the value. */
  readonly enforced?: true;
}
export type SettingsInForce = Infer<typeof settings>;
