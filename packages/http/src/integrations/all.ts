// All integrations. To add one, create a file and export it here.
export { ALERTMANAGER } from './alertmanager.js';
export { AZURE_DEVOPS } from './azuredevops.js';
export { BITBUCKET } from './bitbucket2.js';
export { BITBUCKET_SERVER } from './bitbucket3.js';
export { CIRCLECI } from './circleci.js';
export { FORGEJO, GITEA } from './gitea.js';
export { GITHUB } from './github.js';
export { GITLAB } from './gitlab.js';
export { GOGS } from './gogs.js';
export { GRAFANA } from './grafana.js';
export { HEROKU } from './heroku.js';
export { JENKINS } from './jenkins.js';
export { JSON_WEBHOOK } from './json.js';
export { NETLIFY } from './netlify.js';
export { SENTRY } from './sentry.js';
export { SLACK } from './slack.js';
export { TEAMCITY } from './teamcity.js';
