import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { readConfiguration } from '../configuration/read-configuration.js';
import { runCommand } from '../testing/run-command.js';
import { COMMANDS } from './commands.js';

const deploy = resolve(__dirname, '../../../../docs/deploy');
const textOf = (name: string) => readFileSync(resolve(deploy, name), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: the checks say what the samples contain.
type Yaml = any;

const isCommand = (args: readonly string[]) => COMMANDS.some(({ name }) => name === args.join(' '));
const secondsOf = (text: string) => Number.parseInt(text, 10);

describe('compose file for a cluster', () => {
  const text = textOf('compose-cluster.yaml');
  const VALUES: Readonly<Record<string, string>> = {
    PARLEY_DOMAIN: 'chat.example.com',
    PARLEY_SECRET: 'a secret of all three nodes',
    DATABASE_PASSWORD: 'a',
    BUCKET_PASSWORD: 'b',
    BUS_PASSWORD: 'c',
    PARLEY_SMTP_URL: 'smtp://mail.example.com',
  };
  const filled = text.replace(/\$\{(\w+):\?\}/g, (_, name: string) => VALUES[name]!);
  const file: Yaml = parse(filled, { merge: true });
  const services: Readonly<Record<string, Yaml>> = file.services;

  it('requires exactly the values that its first lines list', () => {
    const required = new Set([...text.matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name!));
    const listed = [...text.matchAll(/^# {3}(\w+)=/gm)].map(([, name]) => name!);
    expect(listed.sort()).toEqual([...required].sort());
    expect(Object.keys(VALUES).sort()).toEqual(listed);
  });

  it('runs three equal nodes with valid settings, after the schema was migrated', () => {
    const nodes = ['node1', 'node2', 'node3'].map((name) => ({ ...services[name], build: undefined }));
    expect(new Set(nodes.map((node) => JSON.stringify(node))).size).toBe(1);
    const { configuration } = readConfiguration([], nodes[0]!.environment);
    expect(configuration).toMatchObject({
      database: { kind: 'postgres', url: 'postgres://parley@database/parley' },
      files: { kind: 's3', bucket: 'parley', endpoint: 'http://bucket:9000' },
      busLocation: { servers: ['tls://bus:4222'] },
    });
    expect(nodes[0]!.depends_on.migrate).toEqual({ condition: 'service_completed_successfully' });
    for (const name of ['node1', 'migrate']) expect(isCommand(services[name].command)).toBe(true);
  });

  it('refers only to its own services and volumes', () => {
    for (const { depends_on = {}, volumes = [] } of Object.values(services)) {
      const named = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      expect(named.filter((name: string) => !(name in services))).toEqual([]);
      const sources = volumes.map((volume: string) => volume.split(':')[0]!);
      expect(sources.filter((name: string) => !name.startsWith('.') && !(name in file.volumes))).toEqual([]);
    }
    const upstreams: string[] = services.proxy.environment.PARLEY_UPSTREAM.split(' ');
    expect(upstreams.every((upstream) => upstream.replace(':9991', '') in services)).toBe(true);
  });

  it('lets a node drain until the proxy has noticed, and stop before it is killed', () => {
    const { environment, stop_grace_period } = services.node1;
    const interval = secondsOf(/health_interval (\d+)s/.exec(textOf('Caddyfile'))![1]!);
    expect(secondsOf(environment.PARLEY_DRAIN_SECONDS)).toBeGreaterThan(interval);
    expect(secondsOf(stop_grace_period)).toBeGreaterThan(2 * secondsOf(environment.PARLEY_DRAIN_SECONDS));
  });

  const program = [['docker-compose'], ['docker', 'compose']].find(
    ([name, ...args]) => spawnSync(name!, [...args, 'version'], { stdio: 'ignore' }).status === 0,
  );
  (program ? it : it.skip)('is valid for Docker Compose', () => {
    const [name, ...args] = program!;
    const all = [...args, '--file', resolve(deploy, 'compose-cluster.yaml'), 'config', '--quiet'];
    const { status, stderr } = spawnSync(name!, all, { encoding: 'utf8', env: { ...process.env, ...VALUES } });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('Kubernetes manifests', () => {
  const text = textOf('kubernetes.yaml');
  const documents = parseAllDocuments(text);
  const objects: readonly Yaml[] = documents.map((document) => document.toJS());
  const ofKind = (kind: string) => objects.find((object) => object.kind === kind);
  const { spec: deployment } = ofKind('Deployment');
  const pods = [deployment, ofKind('Job').spec].map(({ template }) => template.spec);
  const container = pods[0].containers[0];

  it('are valid YAML with known kinds and versions', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'v1 ConfigMap',
      'batch/v1 Job',
      'apps/v1 Deployment',
      'policy/v1 PodDisruptionBudget',
      'v1 Service',
      'networking.k8s.io/v1 Ingress',
    ]);
  });

  const moduleOf = ({ apiVersion, kind }: Yaml) => `kubernetes-models/${apiVersion}/${kind}`;

  it.each(objects.map((object) => [object.kind, object]))(
    'are valid by the JSON schema of Kubernetes: %s',
    (kind, object) => {
      const Model = require(moduleOf(object))[kind];
      expect(() => new Model(object).validate()).not.toThrow();
      expect(() => new Model({ ...object, metadata: 'parley' }).validate()).toThrow('metadata must be object');
    },
  );

  // Kubernetes ignores members that its schema does not name.
  it('have no unknown members', () => {
    const folder = mkdtempSync(resolve(__dirname, '../../../testing/node_modules/manifests-'));
    try {
      const path = join(folder, 'manifests.ts');
      const checked = [...objects, { ...ofKind('Service'), metadata: { nane: 'parley' } }];
      const lines = checked.map(
        (object) => `(${JSON.stringify(object)} satisfies import('${moduleOf(object)}').I${object.kind});`,
      );
      writeFileSync(path, lines.join('\n'));
      const tsc = resolve(require.resolve('typescript/package.json'), '../bin/tsc');
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
      const { stdout } = spawnSync(process.execPath, [tsc, ...options, path], { encoding: 'utf8' });
      expect(stdout.split('\n').filter((line) => line.includes('error'))).toEqual([
        expect.stringMatching(new RegExp(`\\(${checked.length},.*nane.*does not exist`)),
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('contain valid settings and commands', () => {
    const { data } = ofKind('ConfigMap');
    expect(Object.values(data).every((value) => typeof value === 'string')).toBe(true);
    const secrets = { PARLEY_SECRET: 'a secret of all nodes', PARLEY_SMTP_URL: 'smtp://mail.example.com' };
    const { configuration } = readConfiguration([], { ...data, ...secrets });
    expect(configuration).toMatchObject({ database: { kind: 'postgres' }, files: { kind: 's3' } });
    for (const { containers } of pods) expect(isCommand(containers[0].args)).toBe(true);
  });

  /** Variables that Kubernetes adds for a service, which a pod with `enableServiceLinks: false` lacks. */
  function linksTo({ metadata, spec }: Yaml): Record<string, string> {
    const prefix = metadata.name.toUpperCase().replaceAll('-', '_');
    const [host, { port: first }] = ['10.0.0.7', spec.ports[0]];
    const address = (port: number) => `tcp://${host}:${port}`;
    const ofPorts = spec.ports.map(({ name, port }: Yaml) => ({
      [`${prefix}_SERVICE_PORT_${name.toUpperCase()}`]: String(port),
      [`${prefix}_PORT_${port}_TCP`]: address(port),
      [`${prefix}_PORT_${port}_TCP_PROTO`]: 'tcp',
      [`${prefix}_PORT_${port}_TCP_PORT`]: String(port),
      [`${prefix}_PORT_${port}_TCP_ADDR`]: host,
    }));
    return Object.assign(
      {
        [`${prefix}_SERVICE_HOST`]: host,
        [`${prefix}_SERVICE_PORT`]: String(first),
        [`${prefix}_PORT`]: address(first),
      },
      ...ofPorts,
    );
  }

  it('start a server that ignores the variables of their services in one log line', async () => {
    for (const { enableServiceLinks } of pods) expect(enableServiceLinks).toBe(false);
    const services = objects.filter(({ kind }) => kind === 'Service');
    const links = Object.assign({}, ...services.map(linksTo)) as Record<string, string>;
    expect(Object.keys(links).length).toBe(8);
    const folder = mkdtempSync(join(tmpdir(), 'parley-kubernetes-'));
    const args = [
      'serve',
      '--new-database',
      `--database=sqlite:${join(folder, 'chat.db')}`,
      '--port=0',
      '--log-level=warn',
    ];
    const serve = (environment: Record<string, string>) => runCommand(args, { environment });
    try {
      const { code, out, err } = await serve({ ...links, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
      expect([code, out]).toEqual([0, expect.stringMatching(/^Parley is at http:/)]);
      expect(err.split('\n').map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({ level: 'warn', variables: Object.keys(links) }),
      ]);
      expect(await serve(links)).toMatchObject({
        code: 2,
        err: expect.stringContaining('There is no setting PARLEY_'),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('select their own pods and ports', () => {
    const { labels } = deployment.template.metadata;
    expect(deployment.selector.matchLabels).toEqual(labels);
    expect(ofKind('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
    expect(ofKind('Service').spec.selector).toEqual(labels);
    const ports = new Map(container.ports.map(({ name, containerPort }: Yaml) => [name, containerPort]));
    expect(ports).toEqual(
      new Map([
        ['http', 9991],
        ['metrics', 9464],
      ]),
    );
    const [port] = ofKind('Service').spec.ports;
    expect(ports.has(port.targetPort)).toBe(true);
    expect(ofKind('Ingress').spec.rules[0].http.paths[0].backend.service).toEqual({
      name: ofKind('Service').metadata.name,
      port: { name: port.name },
    });
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) => container[name].httpGet);
    expect(probes.map(({ path, port }) => `${port}${path}`)).toEqual(['http/healthz', 'http/readyz', 'http/healthz']);
  });

  it('mount only volumes that exist, and name the secrets to create', () => {
    for (const { containers, volumes } of pods) {
      const names = volumes.map(({ name }: Yaml) => name);
      expect(containers[0].volumeMounts.map(({ name }: Yaml) => name)).toEqual(names);
      const secrets = [
        ...containers[0].envFrom.flatMap(({ secretRef }: Yaml) => secretRef?.name ?? []),
        ...volumes.flatMap(({ secret }: Yaml) => secret?.secretName ?? []),
      ];
      expect(secrets).toEqual(['parley', 'parley-bus']);
      for (const name of secrets) expect(text).toContain(`create secret generic ${name} `);
    }
  });

  it('let a pod drain until its readiness probe has failed, and stop before it is killed', () => {
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    const drain = secondsOf(ofKind('ConfigMap').data.PARLEY_DRAIN_SECONDS);
    expect(drain).toBeGreaterThan(periodSeconds * failureThreshold);
    expect(pods[0].terminationGracePeriodSeconds).toBeGreaterThan(2 * drain);
  });
});
