import type { JobHandler } from '@parley/domain/kernel';
import { RunRequestedImports } from '@parley/transfer/imports';
import { JobWorkers, jobHandlersOf } from '../../workers/job-workers.js';
import { Adapter } from '../adapter.js';
import { type WorkerOptions, workersOf } from '../background-workers.js';
import type { DomainOptions } from './domain.js';
import type { MovingOptions } from './moving.js';

export interface JobOptions extends Pick<DomainOptions, 'isQuiet'>, WorkerOptions, Pick<MovingOptions, 'importRunner'> {
  /** Job handlers in addition to those of the features. */
  readonly moreJobHandlers?: readonly JobHandler[];
}

/** Stored jobs and recurring work. */
export const jobs = (options: JobOptions) =>
  new Adapter({
    jobHandlers: ({ resolve }) => [
      ...(options.moreJobHandlers ?? []),
      // Other servers of the database may run imports.
      ...(options.importRunner ? [resolve(RunRequestedImports)] : []),
      ...jobHandlersOf(resolve),
    ],
    jobWorkers: ({ get }) =>
      new JobWorkers(
        get('jobHandlers').filter(({ kind }) => !(options.isQuiet && kind.waitsWhileQuiet)),
        {
          uow: get('unitOfWork'),
          clock: get('clock'),
          timers: get('timers'),
          report: get('report'),
          holder: get('serverId'),
          clockWatch: get('clockWatch'),
        },
      ),
    workers: ({ get, resolve }) => workersOf(options, get, resolve),
  });
