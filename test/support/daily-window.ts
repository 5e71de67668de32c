import type { MaintenanceWindow } from '../../src/api/maintenance-settings.ts';
import { timestampOf } from '../../src/base/json.ts';

/** A maintenance window that opens each day at the minute of that moment, in UTC. */
export function dailyWindow(moment: number, duration: MaintenanceWindow['duration']): MaintenanceWindow {
  const [hours, minutes] = timestampOf(moment).slice(11, 16).split(':').map(Number);
  return { schedule: `${minutes} ${hours} * * *`, duration };
}
