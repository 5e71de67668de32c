import { z } from 'zod';

// The dashboard JSON model as Grafana documents it (schemaVersion 39: Grafana 10.3 and later, which also read it from
// there on), as far as this project's dashboard uses it. Strict, so that a misspelt field is found.

const gridColumns = 24;

const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });

const gridPos = z
  .strictObject({
    h: z.int().positive(),
    w: z.int().positive().max(gridColumns),
    x: z.int().nonnegative(),
    y: z.int().nonnegative(),
  })
  .refine(({ x, w }) => x + w <= gridColumns, 'must end within the 24 columns');

const target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource,
  expr: z.string().min(1),
  legendFormat: z.string(),
  editorMode: z.enum(['code', 'builder']),
  range: z.boolean(),
  instant: z.boolean(),
  format: z.enum(['time_series', 'table', 'heatmap']).optional(),
});

/** Ids of @grafana/data's value formats. */
const unit = z.enum(['short', 's', 'bytes', 'bool_on_off']);

const thresholds = z.strictObject({
  mode: z.enum(['absolute', 'percentage']),
  // The first has no lower end, which is written as null.
  steps: z.tuple(
    [z.strictObject({ color: z.string(), value: z.null() })],
    z.strictObject({ color: z.string(), value: z.number() }),
  ),
});

const override = z.strictObject({
  matcher: z.strictObject({ id: z.enum(['byName', 'byRegexp', 'byType']), options: z.string() }),
  properties: z.array(z.strictObject({ id: z.literal('unit'), value: unit })).min(1),
});

const fieldConfig = <Custom extends z.ZodType>(custom: Custom) =>
  z.strictObject({
    defaults: z.strictObject({
      unit: unit.optional(),
      min: z.number().optional(),
      noValue: z.string().optional(),
      thresholds: thresholds.optional(),
      custom: custom.optional(),
    }),
    overrides: z.array(override),
  });

const common = { id: z.int().positive(), title: z.string().min(1), gridPos };

const withQueries = { ...common, description: z.string().regex(/\.$/), datasource, targets: z.array(target).min(1) };

const row = z.strictObject({
  ...common,
  type: z.literal('row'),
  collapsed: z.literal(false),
  panels: z.array(z.never()),
});

const stat = z.strictObject({
  ...withQueries,
  type: z.literal('stat'),
  fieldConfig: fieldConfig(z.never()),
  options: z.strictObject({
    reduceOptions: z.strictObject({
      values: z.boolean(),
      calcs: z.array(z.enum(['lastNotNull', 'last', 'max', 'sum'])).min(1),
      fields: z.string(),
    }),
    colorMode: z.enum(['none', 'value', 'background']),
    graphMode: z.enum(['none', 'area']),
    textMode: z.enum(['auto', 'value', 'value_and_name', 'name', 'none']),
    justifyMode: z.enum(['auto', 'center']),
    orientation: z.enum(['auto', 'horizontal', 'vertical']),
  }),
});

const timeseries = z.strictObject({
  ...withQueries,
  type: z.literal('timeseries'),
  fieldConfig: fieldConfig(
    z.strictObject({
      drawStyle: z.enum(['line', 'bars', 'points']),
      lineWidth: z.number(),
      fillOpacity: z.number().min(0).max(100),
      showPoints: z.enum(['auto', 'never', 'always']),
      stacking: z.strictObject({ mode: z.enum(['none', 'normal', 'percent']), group: z.string() }),
    }),
  ),
  options: z.strictObject({
    legend: z.strictObject({
      displayMode: z.enum(['list', 'table', 'hidden']),
      placement: z.enum(['bottom', 'right']),
      showLegend: z.boolean(),
      calcs: z.array(z.string()),
    }),
    tooltip: z.strictObject({ mode: z.enum(['single', 'multi', 'none']), sort: z.enum(['none', 'asc', 'desc']) }),
  }),
});

const stateTimeline = z.strictObject({
  ...withQueries,
  type: z.literal('state-timeline'),
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      custom: z.strictObject({ fillOpacity: z.number().min(0).max(100), lineWidth: z.number() }),
      mappings: z.array(
        z.strictObject({
          type: z.literal('value'),
          options: z.record(
            z.string(),
            z.strictObject({ index: z.int(), text: z.string().min(1), color: z.string().min(1) }),
          ),
        }),
      ),
    }),
    overrides: z.array(override),
  }),
  options: z.strictObject({
    mergeValues: z.boolean(),
    showValue: z.enum(['auto', 'always', 'never']),
    alignValue: z.enum(['left', 'center', 'right']),
    rowHeight: z.number().min(0).max(1),
    legend: z.strictObject({
      displayMode: z.enum(['list', 'table', 'hidden']),
      placement: z.enum(['bottom', 'right']),
      showLegend: z.boolean(),
    }),
    tooltip: z.strictObject({ mode: z.enum(['single', 'multi', 'none']), sort: z.enum(['none', 'asc', 'desc']) }),
  }),
});

const builtInAnnotation = z.strictObject({
  builtIn: z.literal(1),
  datasource: z.strictObject({ type: z.literal('grafana'), uid: z.literal('-- Grafana --') }),
  enable: z.boolean(),
  hide: z.boolean(),
  iconColor: z.string(),
  name: z.string(),
  type: z.literal('dashboard'),
});

const queryAnnotation = z.strictObject({
  datasource,
  enable: z.boolean(),
  hide: z.boolean(),
  iconColor: z.string(),
  name: z.string(),
  expr: z.string().min(1),
  step: z.string().regex(/^\d+s$/),
  titleFormat: z.string(),
  textFormat: z.string(),
  tagKeys: z.string(),
  useValueForTime: z.boolean(),
});

const link = z.strictObject({
  asDropdown: z.boolean(),
  icon: z.enum(['doc', 'external link', 'info']),
  includeVars: z.boolean(),
  keepTime: z.boolean(),
  tags: z.array(z.never()),
  targetBlank: z.boolean(),
  title: z.string().min(1),
  tooltip: z.string(),
  type: z.literal('link'),
  url: z.string().min(1),
});

const table = z.strictObject({
  ...withQueries,
  type: z.literal('table'),
  transformations: z.array(
    z.strictObject({
      id: z.literal('organize'),
      options: z.strictObject({
        excludeByName: z.record(z.string(), z.boolean()),
        indexByName: z.record(z.string(), z.int()),
        renameByName: z.record(z.string(), z.string()),
      }),
    }),
  ),
  fieldConfig: fieldConfig(
    z.strictObject({ align: z.enum(['auto', 'left', 'right', 'center']), filterable: z.boolean() }),
  ),
  options: z.strictObject({
    showHeader: z.boolean(),
    cellHeight: z.enum(['sm', 'md', 'lg']),
    footer: z.strictObject({
      show: z.boolean(),
      reducer: z.array(z.string()),
      countRows: z.boolean(),
      fields: z.string(),
    }),
  }),
});

const variable = {
  name: z.string().regex(/^\w+$/),
  label: z.string().min(1),
  refresh: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  regex: z.string(),
  multi: z.boolean(),
  includeAll: z.boolean(),
  options: z.array(z.never()),
  hide: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  skipUrlSync: z.boolean(),
};

const queryVariable = z.strictObject({
  ...variable,
  type: z.literal('query'),
  datasource,
  definition: z.string(),
  query: z.strictObject({ query: z.string(), refId: z.string() }),
  sort: z.int().min(0).max(8),
  allValue: z.string(),
  current: z.strictObject({ selected: z.boolean(), text: z.array(z.string()), value: z.array(z.string()) }),
});

const datasourceVariable = z.strictObject({
  ...variable,
  type: z.literal('datasource'),
  query: z.literal('prometheus'),
  current: z.strictObject({}),
});

export const dashboardSchema = z.strictObject({
  // Null, so that an import makes a new one; the uid is what it is found by.
  id: z.null(),
  uid: z.string().regex(/^[a-zA-Z0-9_-]{1,40}$/),
  title: z.string().min(1),
  description: z.string(),
  tags: z.array(z.string()),
  timezone: z.enum(['browser', 'utc']),
  editable: z.boolean(),
  graphTooltip: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  fiscalYearStartMonth: z.int().min(0).max(11),
  liveNow: z.boolean(),
  weekStart: z.string(),
  refresh: z.string().regex(/^\d+[smh]$/),
  schemaVersion: z.literal(39),
  version: z.int(),
  time: z.strictObject({ from: z.string(), to: z.literal('now') }),
  timepicker: z.strictObject({}),
  links: z.array(link),
  annotations: z.strictObject({ list: z.array(z.union([builtInAnnotation, queryAnnotation])) }),
  templating: z.strictObject({ list: z.array(z.discriminatedUnion('type', [queryVariable, datasourceVariable])) }),
  panels: z.array(z.discriminatedUnion('type', [row, stat, timeseries, stateTimeline, table])),
});

export type Dashboard = z.infer<typeof dashboardSchema>;
