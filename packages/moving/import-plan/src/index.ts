export { type DownloadCounts, downloadFiles } from './downloads.js';
export { type ExistingOrganization, loadExisting } from './existing-organization.js';
export { reportHtml } from './html-report.js';
export { filesIn, JSONL_READER, NO_FILES } from './jsonl-reader.js';
export { type ImportPlan, type PlanOptions, planImport } from './plan.js';
export { reportLines } from './report.js';
export { type AddedReader, addedReaders, verifyImport } from './verify.js';
