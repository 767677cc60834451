import { statfsSync } from 'node:fs';
import { type Logger, warn } from '@parley/http';

const MIB = 1024 * 1024;

export interface DiskSpace {
  /** Bytes that this user may still write. */
  readonly free: number;
  readonly total: number;
}

export function diskSpaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Severity of little free space; `full`: `/readyz` fails. */
export type DiskState = 'good' | 'low' | 'critical' | 'full';

const LOW_SHARE = 0.1;
const CRITICAL_BYTES = 1024 * MIB;
/** Less space could be used up before an operator reacts. */
const FULL_BYTES = 64 * MIB;

export function diskStateOf({ free, total }: DiskSpace): DiskState {
  if (free < FULL_BYTES) return 'full';
  if (free < CRITICAL_BYTES) return 'critical';
  return free < total * LOW_SHARE ? 'low' : 'good';
}

export const describeSpace = ({ free, total }: DiskSpace): string =>
  `${Math.floor(free / MIB)} MiB of ${Math.floor(total / MIB)} MiB are free (${Math.floor((100 * free) / total)} %)`;

const STATES: readonly DiskState[] = ['good', 'low', 'critical', 'full'];

/** Logs each change for the worse of the free space, and the recovery. */
export class DiskWatch {
  private last: DiskState = 'good';

  constructor(
    private readonly logger: Logger,
    private readonly read: () => DiskSpace,
  ) {}

  readonly run = async (): Promise<void> => {
    const space = this.read();
    const state = diskStateOf(space);
    if (STATES.indexOf(state) > STATES.indexOf(this.last)) {
      warn(this.logger, space, `the disk of the database is filling up: ${describeSpace(space)}`);
    } else if (state === 'good' && this.last !== 'good') {
      warn(this.logger, space, `the disk of the database has enough space again: ${describeSpace(space)}`);
    }
    this.last = state;
  };
}
