import adapter from '@sveltejs/adapter-node';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

// Programs of the chat send forms without `Origin`. The session cookie is not sent by forms of other sites.
export default defineConfig({ plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ['*'] } })] });
