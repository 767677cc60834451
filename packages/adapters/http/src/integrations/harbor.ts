import {
  bulletsOf,
  codeOf,
  type EventTemplate,
  type Integration,
  MAX_ENTRIES,
  Payload,
  topicOf,
} from './integration.js';

const DATA = 'event_data';
const repository = (payload: Payload): string => payload.raw(`${DATA}.repository.repo_full_name`);
const resources = (payload: Payload): readonly Payload[] => payload.list(`${DATA}.resources`);
/** Resources without a tag have only a digest. */
const nameOf = (resource: Payload): string => {
  const url = resource.maybe('resource_url');
  return codeOf(url || resource.maybe('tag') || resource.raw('digest'));
};

const artifact = (done: string): EventTemplate => ({
  topic: repository,
  text: (payload) => {
    const who = payload.person('operator');
    const [only, ...others] = resources(payload);
    if (!only) return `${who} ${done} an artifact.`;
    if (others.length === 0) return `${who} ${done} ${nameOf(only)}.`;
    return `${who} ${done}:\n\n${bulletsOf([only, ...others], nameOf)}`;
  },
});

/** The results are keyed by the media type of the report. */
function reportOf(resource: Payload): Payload {
  const overview = resource.at('scan_overview');
  return new Payload(typeof overview === 'object' ? Object.values(overview!)[0] : undefined);
}

const severities = (report: Payload): string => {
  const counts = Object.entries(Object(report.at('summary.summary'))).filter(([, count]) => typeof count === 'number');
  return counts
    .slice(0, MAX_ENTRIES)
    .map(([severity, count]) => `${count} ${severity.toLowerCase()}`)
    .join(', ');
};

const scanned: EventTemplate = {
  topic: repository,
  text: (payload) => {
    const lines = bulletsOf(resources(payload), (resource) => {
      const report = reportOf(resource);
      const found = severities(report);
      const severity = report.has('severity') ? ` **${report.text('severity')}**` : '';
      return `${nameOf(resource)}:${severity || ' no report'}${found === '' ? '' : ` (${codeOf(found)})`}`;
    });
    return `The scan for vulnerabilities is complete.\n\n${lines}`.trim();
  },
};

const listed = (text: string): EventTemplate => ({
  topic: repository,
  text: (payload) => `${text}\n\n${bulletsOf(resources(payload), nameOf)}`.trim(),
});

const quota = (text: string): EventTemplate => ({
  topic: (payload) => topicOf(payload.raw(`${DATA}.repository.namespace`), 'quota'),
  text: (payload) =>
    `${text} ${payload.code(`${DATA}.repository.namespace`)}.${payload.quote(`${DATA}.custom_attributes.Details`)}`,
});

const replication: EventTemplate = {
  topic: () => 'replication',
  text: (payload) => {
    const path = `${DATA}.replication`;
    const failed = payload.list(`${path}.failed_artifact`);
    const lines = bulletsOf(failed, (entry) => codeOf(entry.raw('name_tag')));
    return `The replication ended with **${payload.text(`${path}.job_status`).toLowerCase()}**.${failed.length === 0 ? '' : `\n\nFailed:\n${lines}`}`;
  },
};

/** Payloads of the default format, not CloudEvents. */
export const HARBOR: Integration = {
  name: 'harbor',
  displayName: 'Harbor',
  documentation: 'https://goharbor.io/docs/main/working-with-projects/project-configuration/configure-webhooks/',
  eventOf: (payload) => payload.raw('type'),
  events: {
    PUSH_ARTIFACT: artifact('pushed'),
    PULL_ARTIFACT: artifact('pulled'),
    DELETE_ARTIFACT: artifact('deleted'),
    SCANNING_COMPLETED: scanned,
    SCANNING_FAILED: listed(':alert: The scan for vulnerabilities **failed**.'),
    SCANNING_STOPPED: listed('The scan for vulnerabilities was stopped.'),
    QUOTA_WARNING: quota('Little space is left in the project'),
    QUOTA_EXCEED: quota(':alert: A push exceeded the quota of the project'),
    REPLICATION: replication,
  },
  offByDefault: ['PULL_ARTIFACT'],
  ignored: ['TAG_RETENTION', 'UPLOAD_CHART', 'DOWNLOAD_CHART', 'DELETE_CHART'],
};
