import { connect, type Server, type Socket } from 'node:net';

// Runs in the network of a cluster. The process that starts it sends servers that listen outside, each with the address
// that its connections go to inside. Ends with that process.

interface Target {
  readonly host: string;
  readonly port: number;
}

process.on('message', ({ host, port }: Target, server: Server) => {
  server.on('connection', (outside: Socket) => {
    const inside = connect({ host, port });
    outside.pipe(inside).pipe(outside);
    // Whichever ends first takes the other along.
    outside.on('error', () => inside.destroy()).on('close', () => inside.destroy());
    inside.on('error', () => outside.destroy()).on('close', () => outside.destroy());
  });
});
process.on('disconnect', () => process.exit(0));
