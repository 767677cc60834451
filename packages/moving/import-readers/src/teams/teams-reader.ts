import { archiveReader, plainFiles } from '../archive-reader.js';
import { TeamsExport } from './teams-export.js';

/** Reads the folder of Microsoft's Teams data export tool. */
export const TEAMS_READER = archiveReader({
  name: 'teams',
  tokenHosts: ['graph.microsoft.com'],
  formatFolders: ['teams/', 'users/'],
  recognizes: (archive) => archive.has('teams/teamsList.json') || archive.has('users/usersList.json'),
  files: plainFiles,
  records: (archive) => new TeamsExport(archive).records(),
});
