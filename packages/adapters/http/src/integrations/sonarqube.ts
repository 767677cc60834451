import { bulletsOf, codeOf, type EventTemplate, type Integration, type Payload, topicOf } from './integration.js';

const topic = (payload: Payload): string =>
  topicOf(payload.raw('project.name'), payload.has('branch.isMain') ? '' : payload.maybe('branch.name'));
const project = (payload: Payload): string =>
  payload.link(payload.text('project.name'), payload.has('branch.url') ? 'branch.url' : 'project.url');
const branch = (payload: Payload): string => {
  const name = payload.maybe('branch.name');
  return name === '' ? '' : ` (${codeOf(name)})`;
};

const condition = (entry: Payload): string => {
  const value = entry.has('value') ? `: ${entry.text('value')}` : '';
  const threshold = entry.has('errorThreshold') ? ` (threshold ${entry.text('errorThreshold')})` : '';
  return `${entry.text('metric').replaceAll('_', ' ')}${value}${threshold}`;
};

const gate = (text: string): EventTemplate => ({
  topic,
  text: (payload) => {
    const failed = payload
      .list('qualityGate.conditions')
      .filter((entry) => !['OK', 'NO_VALUE'].includes(entry.maybe('status')));
    return `The quality gate of ${project(payload)}${branch(payload)} **${text}**.\n\n${bulletsOf(failed, condition)}`.trim();
  },
});

/** Events by status of the quality gate; `WARN` was removed in version 7.6. */
const GATES: Readonly<Record<string, string>> = { OK: 'passed', ERROR: 'failed', WARN: 'failed' };

/** SonarQube Server and SonarQube Cloud. */
export const SONARQUBE: Integration = {
  name: 'sonarqube',
  displayName: 'SonarQube',
  documentation: 'https://docs.sonarsource.com/sonarqube-server/project-administration/webhooks',
  eventOf: (payload) => {
    if (payload.raw('status') !== 'SUCCESS') return 'analysis_failed';
    const status = payload.raw('qualityGate.status');
    return Object.hasOwn(GATES, status) ? GATES[status]! : status;
  },
  events: {
    failed: gate('failed'),
    passed: gate('passed'),
    analysis_failed: {
      topic,
      text: (payload) =>
        `The analysis of ${project(payload)}${branch(payload)} ended with **${payload.text('status').toLowerCase()}**.`,
    },
  },
  offByDefault: ['passed'],
  // Projects without a quality gate.
  ignored: ['NONE'],
};
