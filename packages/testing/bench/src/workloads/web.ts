import { BenchBrowser } from '../harness/browser.js';
import type { Workload } from '../workload.js';
import { browsedOrganization } from '../worlds/worlds.js';
import { measureStart } from './web-start.js';
import { measureUse } from './web-use.js';

/** The web client in headless Chromium, in a large organization. */
export const web: Workload = {
  name: 'web',
  async run(lab) {
    const { database, contents } = await lab.copyOf(browsedOrganization);
    const server = await lab.serve(database);
    const browser = await BenchBrowser.start(server.port, contents.reader);
    const scene = { lab, server, browser, contents };
    try {
      return [...(await measureStart(scene)), ...(await measureUse(scene))];
    } finally {
      await browser.stop();
    }
  },
};
