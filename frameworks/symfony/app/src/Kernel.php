<?php

namespace App;

use App\Controller\WebController;
use Doctrine\DBAL\Connection;
use Doctrine\DBAL\DriverManager;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\FrameworkBundle\Kernel\MicroKernelTrait;
use Symfony\Bundle\TwigBundle\TwigBundle;
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel as BaseKernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

class Kernel extends BaseKernel
{
    use MicroKernelTrait;

    private const ROUTES = 1000;

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new TwigBundle();
    }

    public function getProjectDir(): string
    {
        return dirname(__DIR__);
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        // TwigBundle asks for a secret. Nothing is signed here.
        $container->extension('framework', ['http_method_override' => false, 'secret' => 'nothing is signed']);

        // The container is one file. Symfony 6.4 reads the name with a dot, 5.4 the one without.
        $container->parameters()->set('container.dumper.inline_factories', true);
        $container->parameters()->set('.container.dumper.inline_factories', true);

        // The address is that of the environment in which a request comes.
        $container->parameters()->set('env(PGHOST)', '127.0.0.1');
        $container->parameters()->set('env(PGPORT)', '5432');
        $container->parameters()->set('env(PGUSER)', '');
        $container->parameters()->set('env(PGPASSWORD)', '');
        $container->parameters()->set('env(PGDATABASE)', 'none');
        $services = $container->services();
        $services->set(Connection::class)
            ->factory([DriverManager::class, 'getConnection'])
            ->args([[
                'driver' => 'pdo_pgsql',
                'host' => '%env(PGHOST)%',
                'port' => '%env(int:PGPORT)%',
                'user' => '%env(PGUSER)%',
                'password' => '%env(PGPASSWORD)%',
                'dbname' => '%env(PGDATABASE)%',
            ]]);
        $services
            ->load('App\\Controller\\', __DIR__ . '/Controller/')
            ->autowire()
            ->autoconfigure();
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->import(__DIR__ . '/Controller/', 'annotation');
        for ($k = 0; $k < self::ROUTES; $k++) {
            $routes->add("numbered_$k", "/r/$k/x/{id}")
                ->controller([WebController::class, 'numbered'])
                ->defaults(['k' => $k])
                ->requirements(['id' => '\d{1,9}'])
                ->methods(['GET']);
        }
    }
}
