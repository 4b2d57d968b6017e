export { type Board, type BoardOptions, serveBoard } from './server/server.ts';
