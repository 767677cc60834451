// All integrations. To add one, create a file and export it here.
export { ALERTMANAGER } from './alertmanager.js';
export { FORGEJO, GITEA } from './gitea.js';
export { GITHUB } from './github.js';
export { GITLAB } from './gitlab.js';
export { GRAFANA } from './grafana.js';
export { JSON_WEBHOOK } from './json.js';
export { SENTRY } from './sentry.js';
export { SLACK } from './slack.js';
