import {
  type Bus,
  type ClusterGauges,
  type EventHub,
  firstOf,
  type LogFollower,
  type ReplicaGauges,
  type SessionGauges,
  type StorageGauges,
} from '@parley/domain/kernel';
import type { NotificationMeter } from '@parley/domain/push';
import type { CompletedRequest, ExpressAdapter, RequestObserver, Route } from '@parley/http';
import type { Commit } from '@parley/storage';
import type { Counter, Histogram, Registry } from 'prom-client';
import type { LastBackup } from '../backup/last-backup.js';
import type { JobWorkers } from '../workers/job-workers.js';
import { type DiskSpace, diskSpaceOf } from './disk-space.js';

/** Bucket for files, watched for the operator. */
export interface Bucket {
  readonly bucket: string;
  /** Reason why it fails; null if it works. */
  readonly problem: string | null;
  /** @throws Error while it fails */
  check(): Promise<void>;
}

/** Current state of the server. */
export interface ServerGauges {
  /** Number of pending requests, including long polls. */
  readonly requestsInFlight: number;
  /** Bytes of request bodies in memory. */
  readonly bodiesBytes: number;
  /** Bytes of responses not yet read by clients. */
  readonly answersBytes: number;
  /** Event queues in this process's memory. */
  readonly queues: number;
  /** Number of these queues with a pending poll. */
  readonly waitingPolls: number;
  /** Events committed by any process and not yet delivered. */
  readonly undeliveredEvents: number;
  /** Age in seconds of the oldest due job, by job kind; 0 if none is due. */
  readonly jobLagSeconds: ReadonlyMap<string, number>;
  readonly notifications: NotificationMeter;
  readonly bus: Pick<Bus, 'state' | 'counts'>;
  /** Null if the storage has none. */
  readonly storage: StorageGauges | null;
  /** Reads the state of all servers of the database; null for a database of one server. */
  readonly cluster: (() => Promise<ClusterGauges>) | null;
  /** Null if files are elsewhere. */
  readonly bucket: Pick<Bucket, 'bucket' | 'problem'> | null;
  /** Null if the data is on another machine. */
  readonly disk: DiskSpace | null;
  /** Null without a backup. */
  readonly lastBackup: LastBackup | null;
}

export interface GaugeSources {
  readonly express: ExpressAdapter;
  readonly hub: EventHub;
  readonly follower: LogFollower;
  readonly bus: Bus;
  readonly jobs: JobWorkers;
  readonly notifications: NotificationMeter;
  readonly storage: (() => StorageGauges) | undefined;
  readonly bucket: ServerGauges['bucket'];
  readonly dataFolder: string | null;
  readonly readLastBackup: (() => LastBackup | null) | undefined;
  readonly cluster: ServerGauges['cluster'];
}

/** Reads the gauges. Takes several database reads, so call it rarely. */
export async function readGauges({
  express,
  hub,
  follower,
  bus,
  jobs,
  notifications,
  storage,
  bucket,
  dataFolder,
  readLastBackup,
  cluster,
}: GaugeSources): Promise<ServerGauges> {
  const queues = hub.liveQueues;
  return {
    requestsInFlight: express.inFlight,
    bodiesBytes: express.bytesInFlight.bodies,
    answersBytes: express.bytesInFlight.responses,
    queues: queues.length,
    waitingPolls: queues.filter(({ isWaitedFor }) => isWaitedFor).length,
    undeliveredEvents: await follower.countUndelivered(),
    jobLagSeconds: await jobs.lagSeconds(),
    notifications,
    bus,
    storage: storage?.() ?? null,
    bucket,
    cluster,
    disk: dataFolder === null ? null : diskSpaceOf(dataFolder),
    lastBackup: readLastBackup?.() ?? null,
  };
}

type PrometheusClient = typeof import('./prom-client.js');

/** Bucket limits in seconds. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const UNIT_BUCKETS = [1, 2, 5, 10, 20, 50, 100];

/** Sampling interval of the event loop delay; each sample wakes the process. */
const LOOP_PRECISION_MS = 20;

/** Metrics of a request, resolved once per operation and status. */
interface OperationMetrics {
  readonly name: string;
  readonly observeSeconds: ((seconds: number) => void) | null;
  readonly countByStatus: Map<number, () => void>;
}

export interface MetricsOptions {
  readonly version: string;
  /** True to include process metrics, which embedding applications already have. */
  readonly ofProcess: boolean;
}

type ReadGauges = () => Promise<ServerGauges>;

/** Prometheus metrics of a server. */
export class ServerMetrics implements RequestObserver {
  private readonly registry: Registry;
  private readonly requests: Counter<'operation' | 'status'>;
  private readonly durations: Histogram<'operation'>;
  private readonly commitSeconds: Histogram;
  private readonly commitUnits: Histogram;
  private gauges: ReadGauges | null = null;
  private readonly up: { get(): Promise<unknown> };
  private underWay: Promise<string> | null = null;
  private readonly byRoute = new Map<Route | undefined, OperationMetrics>();

  private constructor(client: PrometheusClient, { version, ofProcess }: MetricsOptions) {
    const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = client;
    const registers = [new Registry()];
    this.registry = firstOf(registers);
    if (ofProcess) {
      collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
      // Sums of gauges by type, with a suffix that Prometheus reserves for counters.
      for (const name of ['handles', 'requests', 'resources']) {
        this.registry.removeSingleMetric(`nodejs_active_${name}_total`);
      }
    }
    this.requests = new Counter({
      name: 'parley_http_requests_total',
      help: 'Completed requests by operation and status; 499: the client disconnected',
      labelNames: ['operation', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Duration of requests, without long polls',
      labelNames: ['operation'],
      buckets: REQUEST_BUCKETS,
      registers,
    });
    this.commitSeconds = new Histogram({
      name: 'parley_commit_duration_seconds',
      help: 'Duration of transactions until they are synced to disk',
      buckets: COMMIT_BUCKETS,
      registers,
    });
    this.commitUnits = new Histogram({
      name: 'parley_commit_units',
      help: 'Units of work per commit',
      buckets: UNIT_BUCKETS,
      registers,
    });
    new Gauge({
      name: 'parley_build_info',
      help: 'Version of the server',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1);
    const countNotifications = notificationCounters(Counter, registers);
    const countMessages = busCounters(Counter, registers);
    const countSessions = sessionCounters(Counter, registers);
    const countReplica = replicaCounter(Counter, registers);
    const count = ({ notifications, bus, storage }: ServerGauges) => {
      countNotifications(notifications);
      countMessages(bus);
      countSessions(storage?.sessions);
      countReplica(storage?.replica);
    };
    this.up = this.addGauges(Gauge, count, registers);
  }

  static async create(options: MetricsOptions): Promise<ServerMetrics> {
    return new ServerMetrics(await import('./prom-client.js'), options);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Sets the gauges; null before the server starts and after it stops. */
  watch(gauges: ReadGauges | null): void {
    this.gauges = gauges;
  }

  /** Renders the text once for concurrent callers. */
  text(): Promise<string> {
    // Collects `up` first, since its callback sets metrics that would otherwise be read before.
    this.underWay ??= this.up
      .get()
      .then(() => this.registry.metrics())
      .finally(() => {
        this.underWay = null;
      });
    return this.underWay;
  }

  answered({ route, status, durationMs }: CompletedRequest): void {
    const operation = this.byRoute.get(route) ?? this.addOperation(route);
    const count = operation.countByStatus.get(status) ?? this.addStatus(operation, status);
    count();
    operation.observeSeconds?.(durationMs / 1000);
  }

  committed({ units, durationMs }: Commit): void {
    this.commitSeconds.observe(durationMs / 1000);
    this.commitUnits.observe(units);
  }

  /** Creates metrics per route, plus one set for unknown routes, which limits label values. */
  private addOperation(route: Route | undefined): OperationMetrics {
    const name = route ? `${route.method} ${route.path}` : 'none';
    const duration = this.durations.labels(name);
    const operation: OperationMetrics = {
      name,
      observeSeconds: route?.longPoll ? null : (seconds) => duration.observe(seconds),
      countByStatus: new Map(),
    };
    this.byRoute.set(route, operation);
    return operation;
  }

  private addStatus(operation: OperationMetrics, status: number): () => void {
    const counter = this.requests.labels(operation.name, String(status));
    const count = () => counter.inc();
    operation.countByStatus.set(status, count);
    return count;
  }

  /** Reads all gauges when the first of them is collected. */
  private addGauges(
    Gauge: PrometheusClient['Gauge'],
    count: (gauges: ServerGauges) => void,
    registers: Registry[],
  ): { get(): Promise<unknown> } {
    const simple: readonly (readonly [
      name: string,
      help: string,
      read: (gauges: ServerGauges) => number | undefined,
    ])[] = [
      ['http_requests_in_flight', 'Pending requests, including long polls', (it) => it.requestsInFlight],
      ['http_bodies_bytes', 'Bytes of request bodies in memory', (it) => it.bodiesBytes],
      ['http_answers_bytes', 'Bytes of unsent responses in memory', (it) => it.answersBytes],
      ['event_queues', 'Event queues in memory', (it) => it.queues],
      ['polls_waiting', 'Pending long polls', (it) => it.waitingPolls],
      ['events_undelivered', 'Committed events not yet delivered', (it) => it.undeliveredEvents],
      [
        'bus_connected',
        '1 if messages of other servers arrive, else 0',
        (it) => it.bus.counts && Number(it.bus.state === 'connected'),
      ],
      ['writes_waiting', 'Units of work waiting for a commit', (it) => it.storage?.waitingWrites],
      ['database_connections', 'Connections to the database server', (it) => it.storage?.sessions?.connections],
      ['database_connections_idle', 'Connections without a unit of work', (it) => it.storage?.sessions?.idle],
      ['database_connections_awaited', 'Units of work without a connection', (it) => it.storage?.sessions?.waiting],
      [
        'replica_used',
        '1 if the read replica is used, 0 if it failed',
        ({ storage }) => storage?.replica && Number(storage.replica.isUsed),
      ],
      ['database_bytes', 'Size of the database file', (it) => it.storage?.databaseBytes],
      ['database_log_bytes', 'Size of the write-ahead log', (it) => it.storage?.logBytes],
      ['disk_free_bytes', 'Free space on the disk of the database', (it) => it.disk?.free],
      ['disk_bytes', 'Size of the disk of the database', (it) => it.disk?.total],
      ['backup_timestamp_seconds', 'Start of the newest complete backup, or 0', (it) => it.lastBackup?.completeAt ?? 0],
      [
        'backup_failed',
        '1 if the last backup failed or lacks files, else 0',
        (it) => Number(it.lastBackup?.hasFailed ?? false),
      ],
    ];
    const all = simple.map(([name, help, read]) => ({
      gauge: new Gauge({ name: `parley_${name}`, help, registers }),
      read,
    }));
    const jobs = new Gauge({
      name: 'parley_job_lag_seconds',
      help: 'Delay of the oldest due job by kind',
      labelNames: ['kind'],
      registers,
    });
    const files = new Gauge({
      name: 'parley_files_available',
      help: '1 if the bucket for files works, else 0',
      labelNames: ['bucket'],
      registers,
    });
    const showCluster = clusterGauges(Gauge, registers);
    const gauges = async () => this.gauges?.() ?? null;
    return new Gauge({
      name: 'parley_up',
      help: '1 if the server has its database open, else 0',
      registers,
      async collect() {
        const now = await gauges();
        this.set(now ? 1 : 0);
        if (!now) return;
        for (const { gauge, read } of all) {
          const value = read(now);
          if (value !== undefined) gauge.set(value);
        }
        showCluster(await now.cluster?.());
        if (now.bucket) files.set({ bucket: now.bucket.bucket }, Number(now.bucket.problem === null));
        for (const [kind, seconds] of now.jobLagSeconds) jobs.set({ kind }, seconds);
        count(now);
      },
    });
  }
}

/** Returns a function that copies the counts of a meter, which exist even without metrics. */
function notificationCounters(Counter: PrometheusClient['Counter'], registers: Registry[]) {
  const due = new Counter({
    name: 'parley_notifications_due_total',
    help: 'Recipients with a due notification',
    registers,
  });
  const results = new Counter({
    name: 'parley_notifications_total',
    help: 'Notifications by channel and result; failed attempts are repeated, refused and expired ones dropped',
    labelNames: ['channel', 'result'],
    registers,
  });
  const seconds = new Counter({
    name: 'parley_notification_seconds_total',
    help: 'Duration of successful attempts by channel',
    labelNames: ['channel'],
    registers,
  });
  const emails = new Counter({
    name: 'parley_incoming_emails_total',
    help: 'Received emails by result; failures are reported to the sending mail server',
    labelNames: ['result'],
    registers,
  });
  return (meter: NotificationMeter) => {
    for (const counter of [due, results, seconds, emails]) counter.reset();
    due.inc(meter.due);
    for (const [result, count] of meter.incoming) emails.inc({ result }, count);
    for (const [channel, counts] of meter.counts) {
      for (const result of ['sent', 'failed', 'refused', 'expired'] as const) {
        results.inc({ channel, result }, counts[result]);
      }
      seconds.inc({ channel }, counts.seconds);
    }
  };
}

/** Returns a function that copies the counts of a bus; in-process servers have none. */
function busCounters(Counter: PrometheusClient['Counter'], registers: Registry[]) {
  const messages = new Counter({
    name: 'parley_bus_messages_total',
    help: 'Messages between servers: published, received, dropped before publication, from another installation, unknown',
    labelNames: ['result'],
    registers,
  });
  return ({ counts }: ServerGauges['bus']) => {
    messages.reset();
    for (const [result, count] of Object.entries(counts ?? {})) messages.inc({ result }, count);
  };
}

/** Returns a function that copies the counts of a database server. */
function sessionCounters(Counter: PrometheusClient['Counter'], registers: Registry[]) {
  const roundTrips = new Counter({
    name: 'parley_database_round_trips_total',
    help: 'Round trips to the database server',
    registers,
  });
  const lockWaits = new Counter({
    name: 'parley_database_lock_wait_seconds_total',
    help: 'Time that units of work waited for the lock of their organization',
    registers,
  });
  return (sessions: SessionGauges | undefined) => {
    for (const counter of [roundTrips, lockWaits]) counter.reset();
    roundTrips.inc(sessions?.roundTrips ?? 0);
    lockWaits.inc(sessions?.lockWaitSeconds ?? 0);
  };
}

/** Returns a function that copies the counts of a read replica. */
function replicaCounter(Counter: PrometheusClient['Counter'], registers: Registry[]) {
  const reads = new Counter({
    name: 'parley_replica_reads_total',
    help: 'Reads that a replica may serve: served, or by the primary because the replica was behind or failed',
    labelNames: ['result'],
    registers,
  });
  return (replica: ReplicaGauges | undefined) => {
    reads.reset();
    for (const result of ['served', 'behind', 'failed'] as const) reads.inc({ result }, replica?.[result] ?? 0);
  };
}

/** Returns a function that shows the servers and standbys of a database. */
function clusterGauges(Gauge: PrometheusClient['Gauge'], registers: Registry[]) {
  const nodes = new Gauge({
    name: 'parley_cluster_nodes',
    help: 'Running servers of the database by release',
    labelNames: ['release'],
    registers,
  });
  const leases = new Gauge({
    name: 'parley_cluster_leases',
    help: 'Leases of this server for recurring work',
    registers,
  });
  const standbys = new Gauge({
    name: 'parley_cluster_standby_lag_bytes',
    help: 'Bytes of the log not yet replayed by a standby of the database',
    labelNames: ['standby'],
    registers,
  });
  return (cluster: ClusterGauges | undefined) => {
    if (!cluster) return;
    for (const gauge of [nodes, standbys]) gauge.reset();
    for (const [release, number] of cluster.nodes) nodes.set({ release }, number);
    for (const [standby, bytes] of cluster.standbys) standbys.set({ standby }, bytes);
    leases.set(cluster.leases);
  };
}
