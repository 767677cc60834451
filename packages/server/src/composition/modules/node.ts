import {
  type Clock,
  ClockWatch,
  DomainError,
  type EventLoop,
  type Randomness,
  type Timers,
} from '@parley/domain/kernel';
import { type Logger, warn } from '@parley/http';
import { SystemEventLoop, SystemTimers } from '@parley/node-adapters';
import { newServerId } from '../../workers/ended-leases.js';
import { Adapter } from '../adapter.js';

export interface NodeOptions {
  readonly clock: Clock;
  /** True if the clock is that of a machine, which may be wrong; default: it is set by the application. */
  readonly isClockWatched?: boolean;
  readonly randomness: Randomness;
  /** Default: timers of the system. */
  readonly timers?: Timers;
  /** Default: event loop of the process. */
  readonly eventLoop?: EventLoop;
  readonly logger: Logger;
  readonly secret: string;
  /** Identifies this start of the server; default: a new id. */
  readonly serverId?: string;
}

/** Process that runs the server. */
export const node = ({ clock, isClockWatched, randomness, timers, eventLoop, logger, secret, serverId }: NodeOptions) =>
  new Adapter({
    clock: () => clock,
    clockWatch: ({ get }) =>
      new ClockWatch(clock, isClockWatched ? get('timers') : { elapsedMs: () => clock.nowMs() }, (message, fields) =>
        warn(logger, fields, message),
      ),
    randomness: () => randomness,
    timers: () => timers ?? new SystemTimers(),
    eventLoop: () => eventLoop ?? new SystemEventLoop(),
    secret: () => secret,
    serverId: () => serverId ?? newServerId(),
    logger: () => logger,
    report: () => (message, fields, level) => {
      // The storage logs an outage once; until it ends, all work fails.
      if (fields.err instanceof DomainError && fields.err.code === 'STORAGE_UNAVAILABLE') return;
      if (level === 'warn') warn(logger, fields, message);
      else logger.error(fields, message);
    },
  });
