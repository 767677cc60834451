import type { Workload } from '../workload.js';
import { archive } from './archive.js';
import { backup } from './backup.js';
import { changes } from './changes.js';
import { channels } from './channels.js';
import { cluster, postgres } from './cluster.js';
import { cpu } from './cpu.js';
import { ejabberd } from './ejabberd.js';
import { erasure } from './erasure.js';
import { exporting } from './export.js';
import { facade } from './facade.js';
import { files } from './files.js';
import { importing } from './import.js';
import { jobs } from './jobs.js';
import { ldap } from './ldap.js';
import { logIn } from './log-in.js';
import { markRead } from './mark-read.js';
import { markdown } from './markdown.js';
import { memory } from './memory.js';
import { metrics } from './metrics.js';
import { narrows } from './narrows.js';
import { notifications } from './notifications.js';
import { offline } from './offline.js';
import { orders } from './orders.js';
import { people } from './people.js';
import { presence } from './presence.js';
import { reconnect } from './reconnect.js';
import { register } from './register.js';
import { send } from './send.js';
import { start } from './start.js';
import { streams } from './streams.js';
import { sweep } from './sweep.js';
import { web } from './web.js';

/** Workloads in the order of the table. */
export const WORKLOADS: readonly Workload[] = [
  cpu,
  send,
  facade,
  archive,
  narrows,
  streams,
  reconnect,
  sweep,
  jobs,
  notifications,
  files,
  offline,
  changes,
  channels,
  markRead,
  people,
  orders,
  register,
  logIn,
  ldap,
  presence,
  markdown,
  start,
  memory,
  metrics,
  backup,
  erasure,
  exporting,
  importing,
  web,
  postgres,
  cluster,
  ejabberd,
];
